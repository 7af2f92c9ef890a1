/* The boundary to the kernel. Private to src/runtime.
 *
 * The runtime enters the kernel only through mz_sys(). A filter catches every other system call of the
 * process (by the program, libc, the loader). Its handler calls mz_kernel_call() on the stack of the calling
 * thread: see kernel.c. */
#ifndef MZ_RUNTIME_KERNEL_KERNEL_H
#define MZ_RUNTIME_KERNEL_KERNEL_H

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "runtime/core/runtime.h"

static inline long mz_sys6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Make a system call. Return its result, or a negative errno. Missing arguments are 0. */
#define mz_sys(...) MZ_SYS_PAD(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define MZ_SYS_PAD(n, a, b, c, d, e, f, ...)                                                                 \
    mz_sys6((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline bool mz_sys_failed(long result) { return result < 0 && result > -4096; }

/* A system call of the program. */
struct mz_call {
    long number;
    uint64_t a[6];
    void *context; /* ucontext_t of the interrupted thread; NULL: the thread called syscall() */
    void *pc;      /* where the thread called syscall() */
    const void *frame;
};

/* kernel.c */
void mz_kernel_init(void);
long mz_kernel_call(struct mz_call *call);
long mz_kernel_perform(struct mz_call *call); /* only what kernel.def says about a PASS call */
const void *mz_kernel_frame(const void *context, uint64_t *pc);
/* For memory that a call writes: call the first before the call, the second after it if the call
 * succeeded. */
void mz_kernel_will_write(const struct mz_call *call, void *to, size_t size);
void mz_kernel_has_written(const struct mz_call *call, void *to, size_t size);
_Noreturn void mz_kernel_refuse(const struct mz_call *call, const char *what, const char *instead);

/* crash.c */
void mz_signals_init(void);
void mz_signal_return(void); /* return address of a signal handler */
void mz_signal_install(int number, void (*function)(int, siginfo_t *, void *), int flags);

/* maps.c: mappings */
void mz_maps_early(void (*add)(uintptr_t start, uintptr_t end));
void mz_maps_init(void);
void mz_maps_reset(void);
static inline bool mz_maps_contains(uint64_t address) { return address - rt.maps_start < rt.maps_size; }
long mz_maps_mmap(struct mz_call *call);
long mz_maps_munmap(struct mz_call *call);
long mz_maps_mremap(struct mz_call *call);
long mz_maps_mprotect(struct mz_call *call);
long mz_maps_madvise(struct mz_call *call);
long mz_maps_brk(struct mz_call *call);

/* written.c: pages written since the last call */
struct mz_written {
    uint64_t start, end, categories;
};
bool mz_written_watch(const void *region, size_t size); /* false: the kernel does not support it */
/* List the written pages of [*from, to), at most `room` runs of pages. Move *from behind the last page that
 * was looked at. Return the number of runs, or -1 if the kernel does not know. */
int mz_written_next(uint64_t *from, uint64_t to, struct mz_written *pages, int room);

/* files.c: descriptors, and the other state of a process that the kernel holds */
void mz_files_init(void);
void mz_files_reset(void);
int mz_files_hide(int fd);
void mz_files_use(const struct mz_call *call, int fd); /* a call is about to use fd */
void mz_files_new(int fd, int like, bool connects);    /* fd is new, in the group of `like`, or -1 */
void mz_files_new_socket(int fd);
long mz_files_close(struct mz_call *call);
long mz_files_close_range(struct mz_call *call);
long mz_files_dup(struct mz_call *call);
long mz_files_fcntl(struct mz_call *call);
long mz_files_lseek(struct mz_call *call);
long mz_files_chdir(struct mz_call *call);
long mz_files_umask(struct mz_call *call);
long mz_files_prlimit(struct mz_call *call);

/* poll_calls.c: waits for descriptors or for time */
long mz_poll_wait(struct mz_call *call);
bool mz_poll_only_sleeps(const struct mz_call *call);

/* signal_calls.c: the program's signals */
void mz_signal_calls_init(void);
void mz_signal_calls_reset(void);
void mz_signals_abort(void);
void mz_signals_raise(int number, void *context); /* the running thread sends it to itself */
long mz_signals_action(struct mz_call *call);
long mz_signals_mask(struct mz_call *call);
long mz_signals_pending(struct mz_call *call);
long mz_signals_altstack(struct mz_call *call);
long mz_signals_kill(struct mz_call *call);
long mz_signals_wait(struct mz_call *call);
long mz_signals_suspend(struct mz_call *call);
long mz_signals_pause(struct mz_call *call);

void mz_signals_spawn(int parent, int child);
/* signal_delivery.c */
enum mz_interruption mz_signal_point(const void *pc, const void *frame);
bool mz_signal_interrupts_wait(bool always, const void *pc, const void *frame);
void mz_signal_point_volatile(const void *pc, const void *frame, bool write);
void mz_signal_end(void);
bool mz_signal_left(void);

#endif
