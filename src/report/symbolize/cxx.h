/* What reports know of C++: readable names, and which frames are only the library's way to the user's code.
 */
#ifndef MZ_REPORT_SYMBOLIZE_CXX_H
#define MZ_REPORT_SYMBOLIZE_CXX_H

#include <stdbool.h>

/* A name as a person would write it, without parameters: "Stack<int>::push" for _ZN5StackIiE4pushEi. Other
 * names, and all names where no C++ library is installed, stay as they are. A new string. */
char *mz_cxx_name(const char *name);

/* Is the file a header of the C++ library? */
bool mz_cxx_is_library(const char *file);

#endif
