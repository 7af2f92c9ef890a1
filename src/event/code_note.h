/* ELF notes in code that was compiled with one of our plugins (src/compiler). */
#ifndef MZ_EVENT_CODE_NOTE_H
#define MZ_EVENT_CODE_NOTE_H

#define MZ_NOTE_NAME "Mazurka" /* 8 bytes with its end */

enum {
    MZ_NOTE_PLUGIN = 1,   /* the object was compiled with a plugin; no text */
    MZ_NOTE_READS = 2,    /* text: "file.c:12: inline assembly reads memory": a read without a hook */
    MZ_NOTE_WRITES = 3,   /* likewise: a write */
    MZ_NOTE_ASSERTION = 4 /* text: "file.c:12: expression": an assertion with a hook */
};

#endif
