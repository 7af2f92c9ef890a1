__asm__(".data\n.balign 4\n.globl blob\nblob: .incbin \"blob.bin\"\n.byte 0,0,0\n.text");
extern int blob;
int answer(void);
int answer(void) { return blob; }
