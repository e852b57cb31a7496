/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/comch_place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/socket_file.h"
#include "local/trusted.h"

#define VERSION 1u

static const char magic[4] = {'d', 'p', 'm', 'c'};

const char *dpumap_comch_place_text(const struct dpumap_comch_place *place,
				    char text[static DPUMAP_COMCH_PLACE_TEXT_SIZE])
{
	char *at = text;

	*at++ = '"';
	for (const char *c = place->name; *c; c++) {
		if (isprint((unsigned char)*c) && (unsigned char)*c < 0x80 && *c != '\\')
			*at++ = *c;
		else
			at += sprintf(at, "\\x%02x", (unsigned char)*c);
	}
	sprintf(at, "\" for function %u of card %016" PRIx64, place->function, place->card);
	return text;
}

void dpumap_comch_directories_find(struct dpumap_comch_directories *directories)
{
	const char *only = secure_getenv("DPUMAP_COMCH_DIR");
	const char *own = geteuid() != 0 ? secure_getenv("XDG_RUNTIME_DIR") : NULL;
	const size_t size = sizeof(directories->path[0]);

	directories->num = 0;
	if (only && only[0] == '/') {
		snprintf(directories->path[directories->num++], size, "%s", only);
		return;
	}
	if (own && own[0] == '/')
		snprintf(directories->path[directories->num++], size, "%s/dpumap-comch", own);
	snprintf(directories->path[directories->num++], size, "%s", DPUMAP_COMCH_ROOT_DIRECTORY);
}

doca_error_t dpumap_comch_directory_make(const char *directory, struct dpumap_error *error)
{
	mode_t mode = geteuid() == 0 ? 0755 : 0700;

	/* The mode without the mask. A user who replaces the directory meanwhile can be no other. */
	if (mkdir(directory, 0700) == 0) {
		if (chmod(directory, mode) != 0)
			return dpumap_error_errno(error, errno, "cannot change the mode of %s",
						  directory);
	} else if (errno != EEXIST) {
		return dpumap_error_errno(error, errno,
					  "cannot create %s for the sockets of servers (set "
					  "XDG_RUNTIME_DIR or DPUMAP_COMCH_DIR)",
					  directory);
	}
	return dpumap_trusted_directory(directory, error);
}

/* FNV-1a of 64 bits. Names of one user's servers: no enemy chooses them. */
static uint64_t hash(const char *name)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return sum;
}

doca_error_t dpumap_comch_place_address(const struct dpumap_comch_place *place,
					const char *directory, struct sockaddr_un *address,
					struct dpumap_error *error)
{
	const size_t size = sizeof(address->sun_path);
	int n;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(address->sun_path, size, "%s/%016" PRIx64 "-%04x-%016" PRIx64 ".sock",
		     directory, place->card, place->function, hash(place->name));
	if (n < 0 || (size_t)n >= size)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"%s is too long for the path of a socket: set "
					"DPUMAP_COMCH_DIR to a shorter one",
					directory);
	return DOCA_SUCCESS;
}

/* CARD-FUNCTION-HASH.sock: others may keep other files there. */
static bool is_of_server(const char *file)
{
	static const char form[] = "xxxxxxxxxxxxxxxx-xxxx-xxxxxxxxxxxxxxxx.sock";

	if (strlen(file) != strlen(form))
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'x' ? !isxdigit((unsigned char)file[i]) : file[i] != form[i])
			return false;
	return true;
}

void dpumap_comch_directory_sweep(const char *directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct dpumap_error ignored;
	struct dirent *entry;
	DIR *dir;

	if (dpumap_trusted_directory(directory, &ignored) != DOCA_SUCCESS)
		return;
	dir = opendir(directory);
	while (dir && (entry = readdir(dir))) {
		int n = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory,
				 entry->d_name);

		if (n > 0 && (size_t)n < sizeof(address.sun_path) && is_of_server(entry->d_name))
			dpumap_socket_file_remove_dead(&address);
	}
	if (dir)
		closedir(dir);
}

void dpumap_comch_preamble_fill(const struct dpumap_comch_place *place,
				enum dpumap_comch_beginning begins,
				struct dpumap_comch_preamble *preamble)
{
	*preamble = (struct dpumap_comch_preamble){
		.version = VERSION,
		.begins = (uint8_t)begins,
		.function = place->function,
		.card = place->card,
	};
	memcpy(preamble->magic, magic, sizeof(magic));
	snprintf(preamble->name, sizeof(preamble->name), "%s", place->name);
}

doca_error_t dpumap_comch_preamble_check(const struct dpumap_comch_preamble *preamble,
					 const struct dpumap_comch_place *place,
					 struct dpumap_error *error)
{
	if (memcmp(preamble->magic, magic, sizeof(magic)) != 0 || preamble->version != VERSION ||
	    (preamble->begins != DPUMAP_COMCH_CLIENT &&
	     preamble->begins != DPUMAP_COMCH_INTRODUCER))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"it is not a client of doca_comch of this release");
	if (preamble->card != place->card || preamble->function != place->function ||
	    strncmp(preamble->name, place->name, sizeof(preamble->name)) != 0)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
					"it looks for a server with another name");
	return DOCA_SUCCESS;
}

/* Only then are the bytes of the connection those of the server that was meant. */
static doca_error_t check_server(int fd, const char *path, struct dpumap_error *error)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return dpumap_error_errno(error, errno, "cannot identify the server at %s", path);
	if (peer.uid != 0 && peer.uid != geteuid())
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"the server at %s runs as user %u; it must run as root or "
					"the current user",
					path, peer.uid);
	return DOCA_SUCCESS;
}

static doca_error_t connect_to(int fd, const struct sockaddr_un *address,
			       struct dpumap_error *error)
{
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return check_server(fd, address->sun_path, error);
	if (errno == EAGAIN)
		return dpumap_error_set(error, DOCA_ERROR_AGAIN,
					"too many clients wait for the server at %s",
					address->sun_path);
	if (errno == ECONNREFUSED)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "the server at %s has ended",
					address->sun_path);
	return dpumap_error_errno(error, errno, "cannot connect to %s", address->sun_path);
}

static doca_error_t begin(int fd, const struct dpumap_comch_place *place,
			  enum dpumap_comch_beginning begins, struct dpumap_error *error)
{
	struct dpumap_comch_preamble preamble;

	dpumap_comch_preamble_fill(place, begins, &preamble);
	/*
	 * The buffer of a new socket has room for it. A server that refuses the peer may have closed
	 * the connection: that shows when reading.
	 */
	if (send(fd, &preamble, sizeof(preamble), MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		return dpumap_error_errno(error, errno, "cannot send to a server");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_place_connect(const struct dpumap_comch_place *place,
					const char *directory, enum dpumap_comch_beginning begins,
					int *fd, struct dpumap_error *error)
{
	struct sockaddr_un address;
	doca_error_t result;
	struct stat st;
	int f;

	result = dpumap_comch_place_address(place, directory, &address, error);
	if (result == DOCA_SUCCESS && lstat(address.sun_path, &st) != 0)
		result = dpumap_error_errno(error, errno, "cannot connect to %s", address.sun_path);
	if (result == DOCA_SUCCESS)
		result = dpumap_trusted_directory(address.sun_path, error);
	if (result != DOCA_SUCCESS)
		return result;
	f = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (f < 0)
		return dpumap_error_errno(error, errno, "cannot open a socket");
	result = connect_to(f, &address, error);
	if (result == DOCA_SUCCESS)
		result = begin(f, place, begins, error);
	if (result != DOCA_SUCCESS) {
		close(f);
		return result;
	}
	*fd = f;
	return DOCA_SUCCESS;
}
