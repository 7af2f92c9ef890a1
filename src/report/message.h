/* What the command says on standard error: always one line that begins with "mazurka: ". */
#ifndef MZ_REPORT_MESSAGE_H
#define MZ_REPORT_MESSAGE_H

enum mz_status { /* exit status: the contract with scripts */
                 MZ_STATUS_VERIFIED = 0,
                 MZ_STATUS_ERROR = 1,
                 MZ_STATUS_FAILED = 2,
                 MZ_STATUS_INCOMPLETE = 3,
                 MZ_STATUS_VACUOUS = 4
};

/* Something keeps us from working. Returns MZ_STATUS_FAILED, so that a caller can `return mz_fail(...)`. */
int mz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something the user should know, but work goes on. */
void mz_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Stands before all of it: who says so. */
void mz_message_prefix(const char *text);
/* Another process says the same. */
void mz_message_mute(void);
/* What an errno means, and what to do where that is not the program's fault. */
const char *mz_reason(int error);
/* The text of the last mz_fail(), for reports in other formats; "" if there was none. */
const char *mz_last_failure(void);

#endif
