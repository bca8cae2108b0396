// User Mode Linux of Debian 12 gives a process 2,696 bytes of its registers back. Linux takes all of
// them or none, and on a processor with AMX there are more, so that the machine's first process would
// die. With this before the C library (LD_PRELOAD) the others are left as they are. No header is
// needed: `cc -shared -fPIC -nostdlib`.
typedef unsigned long size_t;
struct iovec {
  void *base;
  size_t length;
};
typedef long (*trace)(long, long, void *, void *);

extern void *dlsym(void *, const char *);
extern void *memcpy(void *, const void *, size_t);

enum { GET_REGISTERS = 0x4204, SET_REGISTERS = 0x4205, EXTENDED = 0x202 };

static char whole[65536];
static trace next;

long ptrace(long request, long pid, void *kind, void *data) {
  struct iovec *given = data;
  struct iovec all = {whole, sizeof whole};
  if (!next) next = (trace)dlsym((void *)-1L, "ptrace");
  if (request == SET_REGISTERS && (long)kind == EXTENDED) {
    if (next(GET_REGISTERS, pid, kind, &all)) return -1;
    if (given->length < all.length) {
      memcpy(whole, given->base, given->length);
      given = &all;
    }
  }
  return next(request, pid, kind, given);
}
