/* Messages of the command on standard error. A message is always one line that begins with "mazurka: ". */
#ifndef MZ_BASE_MESSAGE_H
#define MZ_BASE_MESSAGE_H

enum mz_status { /* exit status; scripts depend on these numbers */
                 MZ_STATUS_VERIFIED = 0,
                 MZ_STATUS_ERROR = 1,
                 MZ_STATUS_FAILED = 2,
                 MZ_STATUS_INCOMPLETE = 3,
                 MZ_STATUS_VACUOUS = 4
};

/* Report a failure. Return MZ_STATUS_FAILED, so that a caller can `return mz_fail(...)`. */
int mz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tell the user something that does not stop the work. */
void mz_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Set a prefix for all messages of this process. */
void mz_message_prefix(const char *text);
/* Print a message that another process sent. */
void mz_message_mute(void);
/* Explain an errno, with what to do about it where the user can do something. */
const char *mz_reason(int error);
/* The text of the last mz_fail(), for reports in other formats; "" if there was none. */
const char *mz_last_failure(void);

#endif
