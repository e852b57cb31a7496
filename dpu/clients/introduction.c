/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/introduction.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "local/passed_fd.h"
#include "secret/secret.h"

/* In memory that core dumps leave out. */
struct introduction {
	struct dpumap_comch_place place;
	struct dpumap_comch_introduction record;
	uint64_t since;
	int fd;
	bool is_done;
};

/* --- rules ------------------------------------------------------------------------------------ */

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the configuration");
}

void introduction_rules_free(struct introduction_rules *rules)
{
	for (size_t i = 0; i < rules->num; i++) {
		struct introduction_rule *rule = &rules->list[i];

		for (size_t a = 0; a < rule->num_allow; a++)
			free(rule->allow[a]);
		free(rule->allow);
		free(rule->server);
	}
	free(rules->list);
	*rules = (struct introduction_rules){0};
}

doca_error_t introduction_rules_add(struct introduction_rules *rules, const char *server,
				    struct dpumap_error *error)
{
	struct introduction_rule *list =
		reallocarray(rules->list, rules->num + 1, sizeof(*rules->list));
	char *copy = strdup(server);

	if (list)
		rules->list = list;
	if (!list || !copy) {
		free(copy);
		return no_memory(error);
	}
	list[rules->num++] = (struct introduction_rule){.server = copy};
	return DOCA_SUCCESS;
}

doca_error_t introduction_rules_allow(struct introduction_rules *rules, const char *identity,
				      struct dpumap_error *error)
{
	struct introduction_rule *rule = &rules->list[rules->num - 1];
	char **allow = reallocarray(rule->allow, rule->num_allow + 1, sizeof(*allow));
	char *copy = strdup(identity);

	if (allow)
		rule->allow = allow;
	if (!allow || !copy) {
		free(copy);
		return no_memory(error);
	}
	allow[rule->num_allow++] = copy;
	return DOCA_SUCCESS;
}

static bool allows(const struct introduction_rule *rule, const char *identity)
{
	for (size_t i = 0; i < rule->num_allow; i++)
		if (strcmp(rule->allow[i], "*") == 0 || strcmp(rule->allow[i], identity) == 0)
			return true;
	return false;
}

bool introduction_rules_match(const struct introduction_rules *rules, const char *identity,
			      const char *server)
{
	for (size_t i = 0; rules && i < rules->num; i++)
		if (allows(&rules->list[i], identity) &&
		    (!server || fnmatch(rules->list[i].server, server, 0) == 0))
			return true;
	return false;
}

/* --- one introduction ------------------------------------------------------------------------- */

static doca_error_t find_server(const struct dpumap_comch_place *place, int *fd,
				struct dpumap_error *error)
{
	struct dpumap_comch_directories directories;
	doca_error_t result = DOCA_ERROR_NOT_FOUND;

	dpumap_comch_directories_find(&directories);
	for (unsigned int i = 0; i < directories.num && result == DOCA_ERROR_NOT_FOUND; i++)
		result = dpumap_comch_place_connect(place, directories.path[i],
						    DPUMAP_COMCH_INTRODUCER, fd, error);
	return result;
}

static doca_error_t refuse(const char *identity, const struct dpumap_comch_place *place,
			   struct dpumap_error *error)
{
	char text[DPUMAP_COMCH_PLACE_TEXT_SIZE];

	return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
				"there is no server of doca_comch called %.200s that %s may reach",
				dpumap_comch_place_text(place, text), identity);
}

doca_error_t introduction_begin(const struct introduction_rules *rules, const char *identity,
				const struct dpumap_comch_place *place,
				struct introduction **introduction, const uint8_t **key,
				const char **note, struct dpumap_error *error)
{
	struct introduction *i;
	doca_error_t result;

	if (!introduction_rules_match(rules, identity, place->name)) {
		*note = ": comch.introduce in the configuration does not allow it";
		return refuse(identity, place, error);
	}
	i = dpumap_secret_alloc(sizeof(*i));
	if (!i)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a client");
	i->fd = -1;
	i->place = *place;
	i->since = monotonic_ns();
	memcpy(i->record.identity, identity, strlen(identity));
	result = find_server(place, &i->fd, error);
	if (result == DOCA_ERROR_NOT_FOUND) {
		*note = ": no program serves it here";
		result = refuse(identity, place, error);
	}
	if (result == DOCA_SUCCESS &&
	    getrandom(i->record.key, sizeof(i->record.key), 0) != sizeof(i->record.key))
		result = dpumap_error_errno(error, errno, "cannot make a key");
	if (result != DOCA_SUCCESS) {
		introduction_destroy(i);
		return result;
	}
	*key = i->record.key;
	*introduction = i;
	return DOCA_SUCCESS;
}

doca_error_t introduction_pass(struct introduction *introduction, int client,
			       struct dpumap_error *error)
{
	struct introduction *i = introduction;
	ssize_t n;

	/* The socket has room: nothing but the preamble was sent. */
	n = dpumap_send_fd(i->fd, &i->record, sizeof(i->record), MSG_NOSIGNAL, client);
	explicit_bzero(i->record.key, sizeof(i->record.key));
	close(client);
	i->is_done = n == sizeof(i->record);
	if (i->is_done)
		return DOCA_SUCCESS;
	return dpumap_error_errno(error, n < 0 ? errno : EMSGSIZE,
				  "the server refused the introduction (comch.users in its "
				  "dpumap.conf)");
}

bool introduction_is_done(const struct introduction *introduction)
{
	return introduction && introduction->is_done;
}

uint64_t introduction_since(const struct introduction *introduction)
{
	return introduction->is_done ? 0 : introduction->since;
}

int introduction_fd(const struct introduction *introduction)
{
	return introduction->fd;
}

bool introduction_has_ended(const struct introduction *introduction)
{
	char byte;

	return recv(introduction->fd, &byte, 1, MSG_DONTWAIT) >= 0 ||
	       (errno != EAGAIN && errno != EINTR);
}

const struct dpumap_comch_place *introduction_place(const struct introduction *introduction)
{
	return &introduction->place;
}

void introduction_withdraw(const struct introduction *introduction)
{
	const char byte = DPUMAP_COMCH_WITHDRAW;

	send(introduction->fd, &byte, sizeof(byte), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void introduction_destroy(struct introduction *introduction)
{
	if (!introduction)
		return;
	if (introduction->fd >= 0)
		close(introduction->fd);
	dpumap_secret_free(introduction, sizeof(*introduction));
}
