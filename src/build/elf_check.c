/* Is this file a program that mazurka can check: see elf_check.h. */
#define _GNU_SOURCE
#include "build/elf_check.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/message.h"

#define BUILD_IT "build it with `mazurka cc` (for example: make CC=\"mazurka cc\")"

struct facts {
    bool interpreter, dynamic;
    bool mazurka, sanitizer; /* libraries it needs */
};

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct facts *f)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
        if (entry.d_tag != DT_NEEDED) continue;
        const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (!name) continue;
        if (!strncmp(name, "libmazurka.so", 13)) f->mazurka = true;
        if (!strncmp(name, "libtsan", 7) || !strncmp(name, "libasan", 7)) f->sanitizer = true;
    }
}

static void read_facts(Elf *elf, struct facts *f)
{
    size_t count = 0;
    GElf_Phdr program;
    GElf_Shdr header;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &program)) continue;
        if (program.p_type == PT_INTERP) f->interpreter = true;
        if (program.p_type == PT_DYNAMIC) f->dynamic = true;
    }
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_DYNAMIC) read_dynamic(elf, s, &header, f);
}

static int judge(Elf *elf, const char *name)
{
    GElf_Ehdr header;
    struct facts f = {0};
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return mz_fail("%s is neither a C or C++ file nor a program (not an ELF file)", name);
    if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return mz_fail("%s is not an x86-64 program: mazurka checks only those", name);
    if (header.e_type == ET_REL)
        return mz_fail("%s is an object file: link it into a program with `mazurka cc` first", name);
    read_facts(elf, &f);
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return mz_fail("%s is not a program", name);
    if (!f.dynamic) return mz_fail("%s is a static executable, which cannot be checked: " BUILD_IT, name);
    if (!f.interpreter)
        return mz_fail("%s is a shared library or a static executable, not a program to check", name);
    if (!f.mazurka) return mz_fail("%s was not built for checking: " BUILD_IT, name);
    if (f.sanitizer) return mz_fail("%s is linked with a sanitizer's library: " BUILD_IT " only", name);
    return 0;
}

int mz_elf_check(const char *path, const char *name)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) < 0) return mz_fail("%s: %s", name, strerror(errno));
    int status = 0;
    if (S_ISDIR(s.st_mode))
        status = mz_fail("%s is a directory", name);
    else if (!S_ISREG(s.st_mode))
        status = mz_fail("%s is not a regular file", name);
    elf_version(EV_CURRENT);
    Elf *elf = status ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    if (status == 0) status = elf ? judge(elf, name) : mz_fail("%s is not a program", name);
    if (status == 0 && access(path, X_OK) < 0) status = mz_fail("%s: %s", name, strerror(errno));
    if (elf) elf_end(elf);
    close(fd);
    return status;
}
