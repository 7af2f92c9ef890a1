/* Start and end of a run under mpirun: see cluster.h. */
#define _GNU_SOURCE
#include "dist/cluster_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/region.h"
#include "base/memory.h"
#include "base/message.h"
#include "dist/host_bell.h"
#include "launch/mpirun.h"
#include "launch/paths.h"
#include "launch/process.h"

#define ROOM       ((size_t)1 << 32)
#define PATIENCE   10.0    /* seconds */
#define FIRST_WAIT 120     /* seconds: two minutes, as nobody_came() says */
#define LAST_WORDS 5.0     /* for sent messages to leave, and for MPI to end */
#define SHORT_NAP  0.00005 /* seconds */
#define LONG_NAP   0.005
#define LOOKS      4
#define NAP_COST   0.00003 /* of processor time */
#define LINGER     50000   /* microseconds */

/* ---- our rank ---- */

static const char *wanted_plugin(void)
{
    const char *own = getenv("MAZURKA_MPI");
    const struct mz_mpirun *l = mz_mpirun_find();
    return own && *own ? own : l ? l->plugin : NULL;
}

/* A number that mpirun wrote into the environment; 0 if there is none. */
static int number_of(const char *text) { return text ? (int)strtol(text, NULL, 10) : 0; }

static int told_size(void)
{
    const struct mz_mpirun *l = mz_mpirun_find();
    const char *size = l && l->size ? getenv(l->size) : NULL;
    return number_of(size);
}

bool mz_cluster_first_of_host(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_LOCAL_RANK"), *mpich = getenv("MPI_LOCALRANKID");
    const char *local = open_mpi ? open_mpi : mpich;
    return number_of(local) == 0;
}

int mz_cluster_rank(void)
{
    const char *own = getenv("MAZURKA_MPI");
    const struct mz_mpirun *l = mz_mpirun_find();
    if (!l || (own && !strcmp(own, "none")) || told_size() == 1) return -1;
    return number_of(getenv(l->rank));
}

/* Seconds; 0: the value is not valid. */
static double patience(void)
{
    const char *text = getenv("MAZURKA_RANK_TIMEOUT");
    char *end;
    if (!text || !*text) return PATIENCE;
    double seconds = strtod(text, &end);
    return isfinite(seconds) && seconds > 0 && !*end ? seconds : 0;
}

int mz_cluster_check_settings(void)
{
    if (mz_cluster_rank() < 0 || patience() > 0) return 0;
    return mz_fail("MAZURKA_RANK_TIMEOUT=%s: it must be a number of seconds, more than 0",
                   getenv("MAZURKA_RANK_TIMEOUT"));
}

/* ---- MPI ---- */

/* The ranks that we exchange messages with. */
static int first_peer(const struct mz_cluster *c) { return c->rank == 0; }

static int end_of_peers(const struct mz_cluster *c) { return c->rank == 0 ? c->size : 1; }

static const struct {
    const char *name, *packages;
} implementations[] = {{"openmpi", "libopenmpi-dev openmpi-bin"}, {"mpich", "libmpich-dev mpich"}};

static int no_plugin(const char *name, const char *path, const char *problem)
{
    for (size_t i = 0; i < sizeof implementations / sizeof *implementations; i++) {
        if (strcmp(implementations[i].name, name) != 0) continue;
        if (access(path, F_OK) < 0)
            return mz_fail("started by mpirun, but built without %s: apt-get install %s, then run make again "
                           "(MAZURKA_MPI=none: as without mpirun)",
                           name, implementations[i].packages);
        return mz_fail("started by mpirun, but %s cannot be loaded (%s): apt-get install %s", path, problem,
                       implementations[i].packages);
    }
    return mz_fail("MAZURKA_MPI=%s: it must be openmpi, mpich or none", name);
}

static const struct mz_transport *load(void)
{
    struct mz_paths paths;
    const char *name = wanted_plugin();
    if (mz_paths_find(&paths) != 0) return NULL;
    char *path = mz_format("%s/libmazurka-%s.so", paths.library_dir, name);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* its own plug-ins look for its symbols */
    const struct mz_transport *t = plugin ? dlsym(plugin, MZ_TRANSPORT_SYMBOL) : NULL;
    if (!t)
        no_plugin(name, path, dlerror());
    else if (t->version != MZ_TRANSPORT_VERSION)
        mz_fail("%s is of another version of mazurka: run make again", path), t = NULL;
    free(path);
    return t;
}

/* Use a handler: targets would inherit an ignored signal. */
static void do_nothing(int signal_number) { (void)signal_number; }

/* MPI starts when all ranks are there. This is a signal handler: mz_fail is not allowed. */
static void nobody_came(int signal_number)
{
    static const char text[] =
        "mazurka: not all ranks have started within two minutes: see whether mpirun could start them\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(MZ_STATUS_FAILED);
}

static bool joined;

struct mz_cluster *mz_cluster_join(void)
{
    const struct mz_transport *t = load();
    if (!t) return NULL;
    joined = true;
    struct mz_cluster *c = mz_memory_new(sizeof *c);
    signal(SIGUSR1, do_nothing); /* MPICH's mpirun sends it when a rank has died */
    c->transport = t;
    c->patience = patience();
    c->out = (struct mz_message){.data = mz_region_reserve(ROOM), .capacity = ROOM};
    /* Do not let ranks read each other's memory: a rank that dies meanwhile would end the other one. */
    setenv("UCX_RNDV_THRESH", "inf", 0);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    signal(SIGALRM, nobody_came);
    alarm(FIRST_WAIT);
    bool opened = c->out.data && t->open(&c->rank, &c->size);
    alarm(0);
    if (opened && (told_size() <= 1 || c->size == told_size()) && c->rank == mz_cluster_rank()) {
        c->ranks = mz_memory_new((size_t)end_of_peers(c) * sizeof *c->ranks);
        return c;
    }
    if (!opened)
        mz_fail("%s could not start: see its messages above", t->name);
    else
        mz_fail("mpirun started %d processes, but %s knows of %d: this mpirun is of another implementation "
                "(MAZURKA_MPI=openmpi, or mpich, says which one to use)",
                told_size(), t->name, c->size);
    free(c);
    return NULL;
}

/* All ranks end together. If a rank does not, because it has died, do not wait for it: all messages have been
 * delivered. */
static int last_status;

static void enough(int signal_number)
{
    (void)signal_number;
    _exit(last_status);
}

void mz_cluster_leave(struct mz_cluster *c, int status, unsigned patience)
{
    double start = mz_process_clock(), wait = c->lost_some ? LAST_WORDS / 10 : LAST_WORDS;
    while (!c->transport->all_gone() && mz_process_clock() - start < wait) usleep(1000);
    last_status = status;
    fflush(stdout);
    signal(SIGALRM, enough);
    alarm(patience);
    if (!c->lost_some) c->transport->close();
    alarm(0);
    mz_region_free(c->out.data, ROOM);
    for (int r = first_peer(c); r < end_of_peers(c); r++) mz_host_bell_close(c->ranks[r].near);
    free(c->ranks);
    free(c);
}

/* ---- rank 0 ---- */

int mz_cluster_open(struct mz_cluster **cluster)
{
    *cluster = NULL;
    if (mz_cluster_rank() != 0) return 0;
    struct mz_cluster *c = mz_cluster_join();
    if (!c) return MZ_STATUS_FAILED;
    *cluster = c;
    return 0;
}

static void tell_all(struct mz_cluster *c, enum mz_say what)
{
    for (int r = 1; r < c->size; r++) {
        mz_cluster_begin(c, what);
        mz_put(&c->out, c->lost_some);
        mz_cluster_send(c, r);
    }
}

void mz_cluster_dismiss(struct mz_cluster *c)
{
    if (!c || c->dismissed) return;
    c->dismissed = true;
    tell_all(c, MZ_SAY_QUIT);
}

/* Every message must be received before MPI can end. */
static void hear_farewells(struct mz_cluster *c)
{
    struct mz_message m;
    int rank, left = 0;
    for (int r = 1; r < c->size; r++) left += c->ranks[r].state != MZ_RANK_GONE;
    for (double start = mz_process_clock(); left > 0 && mz_process_clock() - start < LAST_WORDS; usleep(200))
        while (mz_cluster_receive(c, &rank, &m))
            left -= rank > 0 && rank < c->size && mz_get(&m) == MZ_ANSWER_FAREWELL &&
                    c->ranks[rank].state != MZ_RANK_GONE;
    if (left > 0) c->lost_some = true;
}

/* MPICH's mpirun dies of SIGPIPE, and output is lost, if its processes end while it is still starting others. */
static void linger(void)
{
    if (mz_mpirun_is_parent() && !joined) usleep(LINGER);
}

void mz_cluster_close(struct mz_cluster *c, int status)
{
    if (!c) {
        linger();
        return;
    }
    mz_cluster_dismiss(c);
    fflush(NULL);
    tell_all(c, MZ_SAY_BYE);
    hear_farewells(c);
    mz_cluster_leave(c, status, (unsigned)LAST_WORDS);
}

/* ---- the others ---- */

static volatile pid_t child;

static void pass_on(int signal_number) { kill(child, signal_number); }

/* The process that mpirun knows. Whatever happens to the agent, this process ends in order. */
static _Noreturn void wait_for_agent(void)
{
    int status = 0, signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], pass_on);
    signal(SIGUSR1, do_nothing);
    mz_process_restore_signals();
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

void mz_cluster_stand_behind(void)
{
    pid_t parent = getpid();
    fflush(NULL);
    child = fork();
    if (child > 0) wait_for_agent();
    if (child < 0) return; /* continue without it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
}

/* ---- messages ---- */

void mz_cluster_begin(struct mz_cluster *c, uint32_t kind)
{
    mz_message_clear(&c->out);
    mz_put(&c->out, kind);
}

void mz_cluster_send(struct mz_cluster *c, int rank)
{
    c->busy = mz_process_clock();
    if (c->ranks[rank].state == MZ_RANK_GONE && !c->dismissed) return;
    struct mz_common *near = c->ranks[rank].near;
    if (near) __atomic_add_fetch(c->rank ? &c->common->tells : &near->told, 1, __ATOMIC_SEQ_CST);
    c->transport->send(rank, c->out.data,
                       c->out.count); /* a rank that cannot be reached soon counts as lost */
    mz_host_bell_ring(near);
}

/* Is a message on its way to us? */
enum under_way { NOTHING, SOMETHING, UNKNOWN };

static enum under_way under_way(const struct mz_cluster *c)
{
    enum under_way answer = NOTHING;
    for (int i = first_peer(c); i < end_of_peers(c); i++) {
        const struct mz_rank *r = &c->ranks[i];
        if (r->state == MZ_RANK_OUT || r->state == MZ_RANK_GONE) continue;
        if (!r->rings)
            answer = UNKNOWN;
        else if ((c->rank ? c->common->told : r->near->tells) != r->counted)
            return SOMETHING;
    }
    return answer;
}

/* MPI may notice a message only at the second look. */
bool mz_cluster_receive(struct mz_cluster *c, int *rank, struct mz_message *m)
{
    size_t size = 0;
    const void *data = c->transport->receive(rank, &size);
    for (int i = 1; !data && i < LOOKS && under_way(c) == SOMETHING; i++)
        data = c->transport->receive(rank, &size);
    if (!data) return false;
    *m = (struct mz_message){.data = (uint8_t *)data, .count = size, .capacity = size};
    return true;
}

void mz_put_block(struct mz_message *m, const void *data, size_t size)
{
    MZ_ASSERT(m->capacity - m->count >= size + sizeof(uint64_t));
    mz_put_long(m, size);
    if (size) memcpy(m->data + m->count, data, size);
    m->count += size;
}

void mz_put_text(struct mz_message *m, const char *text) { mz_put_block(m, text, strlen(text)); }

const void *mz_get_block(struct mz_message *m, size_t *size)
{
    uint64_t n = mz_get_long(m);
    if (n > m->count - m->at) m->bad = true;
    *size = m->bad ? 0 : n;
    const void *data = m->data + m->at;
    m->at += *size;
    return data;
}

char *mz_get_text(struct mz_message *m)
{
    size_t size;
    const char *text = mz_get_block(m, &size);
    return mz_memory_stringn(text, size);
}

/* Assume that messages arrive at intervals as long as the present silence. Then this nap costs least: a message
 * waits for half a nap, and each nap costs a little of a processor that a worker could use. */
double mz_cluster_nap(const struct mz_cluster *c, double longest)
{
    bool rung = under_way(c) == NOTHING;
    double nap = rung ? longest : sqrt(2 * NAP_COST * (mz_process_clock() - c->busy));
    if (!c->transport->all_gone() || !c->transport->all_come())
        nap = SHORT_NAP; /* MPI makes progress only when it is called */
    else if (!rung && nap > LONG_NAP)
        nap = LONG_NAP;
    return nap > longest ? longest : nap < SHORT_NAP ? SHORT_NAP : nap;
}

/* A hash of its size and its beginning: the beginning contains the build id (Makefile), which depends on the whole
 * file. */
static uint64_t hash_library(const char *path)
{
    static uint64_t words[8192];
    struct stat s = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) < 0 || read(fd, words, sizeof words) < 0) s.st_size = 0;
    if (fd >= 0) close(fd);
    uint64_t h = 0xcbf29ce484222325ull ^ (uint64_t)s.st_size;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
}

/* The version, and the library that is in every target. */
const char *mz_cluster_build(void)
{
    static char build[64];
    struct mz_paths paths;
    if (!build[0] && mz_paths_find(&paths) == 0)
        snprintf(build, sizeof build, "mazurka %s, %016llx", MZ_VERSION,
                 (unsigned long long)hash_library(paths.library));
    return build;
}
