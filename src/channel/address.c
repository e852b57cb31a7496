/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

static doca_error_t parse_path(const char *path, struct dpumap_address *address,
			       struct dpumap_error *error)
{
	size_t len = strlen(path);

	if (len == 0)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"the socket path is empty");
	if (len >= sizeof(address->path.sun_path))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"socket %s: the path has more than %zu bytes (%zu)", path,
					sizeof(address->path.sun_path) - 1, len);
	address->kind = DPUMAP_ADDRESS_UNIX;
	address->path.sun_family = AF_UNIX;
	memcpy(address->path.sun_path, path, len);
	return DOCA_SUCCESS;
}

static bool is_port(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len >= DPUMAP_PORT_MAX || strspn(text, "0123456789") != len)
		return false;
	return strtoul(text, NULL, 10) <= 65535;
}

/* Parses [IPV6]:PORT or HOST:PORT; *len is the length of the host. */
static const char *split(const char *text, const char **host, size_t *len)
{
	const char *end;

	if (text[0] == '[') {
		*host = text + 1;
		end = strchr(text, ']');
		if (!end || end[1] != ':')
			return NULL;
		*len = (size_t)(end - *host);
		return end + 2;
	}
	*host = text;
	end = strchr(text, ':');
	if (!end)
		return NULL;
	*len = (size_t)(end - text);
	return end + 1;
}

static doca_error_t parse_host(const char *text, struct dpumap_address *address,
			       struct dpumap_error *error)
{
	const char *host, *port;
	size_t len = 0;

	port = split(text, &host, &len);
	if (!port || !is_port(port) || len == 0 || len >= sizeof(address->host))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"invalid address tls:%s: use tls:HOST:PORT, with an IPv6 "
					"address in brackets",
					text);
	address->kind = DPUMAP_ADDRESS_TLS;
	memcpy(address->host, host, len);
	memcpy(address->port, port, strlen(port));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_address_parse(const char *text, struct dpumap_address *address,
				  struct dpumap_error *error)
{
	const char *colon = strchr(text, ':');

	memset(address, 0, sizeof(*address));
	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(text + 5, address, error);
	if (strncmp(text, "tls:", 4) == 0)
		return parse_host(text + 4, address, error);
	/* An address of another kind, or without a kind: "http://host", "host:7470". */
	if (colon && !memchr(text, '/', (size_t)(colon - text)))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"invalid address %s: use unix:PATH or tls:HOST:PORT", text);
	return parse_path(text, address, error);
}

void dpumap_address_default_path(char *path, size_t size)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	snprintf(path, size, "%s/dpumapd.sock", dir && dir[0] == '/' ? dir : "/run");
}

/* Also true if we cannot know. A datagram socket connects to no server, so that no server sees it. */
static bool is_served(const char *path)
{
	struct dpumap_error ignored = {0};
	struct dpumap_address address = {0};
	int probe, err;

	if (parse_path(path, &address, &ignored) != DOCA_SUCCESS)
		return false;
	probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return access(path, F_OK) == 0;
	err = connect(probe, (const struct sockaddr *)&address.path, sizeof(address.path)) == 0
		      ? 0
		      : errno;
	close(probe);
	return err != ECONNREFUSED && err != ENOENT && err != ENOTDIR;
}

void dpumap_address_find_default(char *path, size_t size)
{
	/* The packaged service and its socket unit listen there; see dpumapd.conf and dpumapd.socket. */
	static const char *const paths[] = {"/run/dpumapd/dpumapd.sock", "/run/dpumapd.sock"};

	dpumap_address_default_path(path, size);
	if (strcmp(path, paths[1]) != 0 && is_served(path))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (is_served(paths[i])) {
			snprintf(path, size, "%s", paths[i]);
			return;
		}
}
