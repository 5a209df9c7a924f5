/* Loaded before the libraries of a process and of all that it starts (LD_PRELOAD): writes down which hosts they ask for
   by name, and which addresses beyond this machine they would send to; neither is let through. Python's own calls pass
   here, and those of compiled libraries, which no hook in Python sees. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void record(const char *what) {
    const char *path = getenv("RECORDED_LOOKUPS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "%s\n", what);
        close(file);
    }
}

static int is_here(const char *host) {
    return !strcmp(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1") ||
           !strcmp(host, "0.0.0.0") || !strcmp(host, "::") || !strncmp(host, "::ffff:127.", 11);
}

static int leaves(const struct sockaddr *to) {
    char host[INET6_ADDRSTRLEN] = "127.";
    if (to && to->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)to)->sin_addr, host, sizeof host);
    if (to && to->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)to)->sin6_addr, host, sizeof host);
    if (is_here(host))
        return 0;
    record(host);
    errno = ENETUNREACH;
    return 1;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    if (host && !is_here(host)) {
        record(host);
        return EAI_NONAME;
    }
    return real(host, service, hints, found);
}

int connect(int fd, const struct sockaddr *to, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
    return leaves(to) ? -1 : real(fd, to, length);
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t length) {
    ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "sendto");
    return leaves(to) ? -1 : real(fd, bytes, n, flags, to, length);
}
