/* void mz_fiber_switch(void **save, void *load): the callee-saved registers go onto the old stack, its pointer
 * to *save; then the same in reverse for the new one. Floating-point control words are left alone: the
 * program sets them for all its threads or for none. */
        .text
        .globl  mz_fiber_switch
        .hidden mz_fiber_switch
        .type   mz_fiber_switch, @function
mz_fiber_switch:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   mz_fiber_switch, . - mz_fiber_switch

/* First code of every fiber. rbp is 0 here: the chain of frames ends. */
        .globl  mz_fiber_entry
        .hidden mz_fiber_entry
        .type   mz_fiber_entry, @function
mz_fiber_entry:
        xorl    %ebp, %ebp
        call    mz_fiber_main
        ud2
        .size   mz_fiber_entry, . - mz_fiber_entry
        .section .note.GNU-stack,"",@progbits
