/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/credentials.h"

#include <stdio.h>

#include "base/clock.h"
#include "dpu/base/log.h"

#define INTERVAL_NS (60 * NSEC_PER_SEC)
#define EACH	    3 /* of a context: certificate, authority and list */

static const struct {
	const char *prefix, *at_present, *after_reload;
} places[] = {
	{"", "no client can connect over TLS", "no client could connect over TLS"},
	{"registry: ", "etcd cannot be reached over TLS", "etcd could not be reached over TLS"},
};

struct assessed {
	struct dpumap_credentials found[2];
	const struct dpumap_credential *all[CREDENTIALS_MAX];
};

static void assess(const struct credentials *credentials, struct assessed *assessed)
{
	const struct dpumap_tls *const contexts[] = {credentials->own, credentials->registry};

	for (size_t i = 0; i < 2; i++) {
		struct dpumap_credentials *found = &assessed->found[i];

		dpumap_tls_assess(contexts[i], found);
		assessed->all[i * EACH] = &found->certificate;
		assessed->all[i * EACH + 1] = &found->authority;
		assessed->all[i * EACH + 2] = &found->list;
	}
}

static void warn(size_t place, const struct dpumap_credential *c)
{
	if (c->state == DPUMAP_CREDENTIAL_USELESS)
		log_warning("%s%s: %s: %s", places[place].prefix, places[place].at_present, c->text,
			    c->advice);
	else if (c->state == DPUMAP_CREDENTIAL_WARN)
		log_warning("%s%s: %s", places[place].prefix, c->text, c->advice);
}

void credentials_warn(const struct credentials *credentials, struct credentials_warned *warned)
{
	struct credentials_warned unused = {0}, *t = warned ? warned : &unused;

	*t = (struct credentials_warned){0};
	credentials_follow(credentials, t);
}

void credentials_follow(const struct credentials *credentials, struct credentials_warned *warned)
{
	uint64_t now = monotonic_ns();
	struct assessed assessed;

	if (now < warned->next)
		return;
	warned->next = now + INTERVAL_NS;
	assess(credentials, &assessed);
	for (size_t i = 0; i < CREDENTIALS_MAX; i++) {
		if (assessed.all[i]->state > warned->states[i])
			warn(i / EACH, assessed.all[i]);
		warned->states[i] = assessed.all[i]->state;
	}
}

doca_error_t credentials_check_reload(const struct credentials *now, const struct credentials *next,
				      struct dpumap_error *error)
{
	struct assessed before, after;

	assess(next, &after);
	assess(now, &before);
	for (size_t i = 0; i < 2; i++) {
		const struct dpumap_credential *useless =
			dpumap_credentials_useless(&after.found[i]);

		if (useless && !dpumap_credentials_useless(&before.found[i]))
			return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s%s: %s: %s",
						places[i].prefix, places[i].after_reload,
						useless->text, useless->advice);
	}
	return DOCA_SUCCESS;
}

void credentials_describe(const struct dpumap_tls *tls, char *text, size_t size)
{
	const struct credentials credentials = {.own = tls};
	const struct dpumap_credential *worst;
	struct assessed assessed;

	assess(&credentials, &assessed);
	worst = assessed.all[0];
	for (size_t i = 1; i < EACH; i++)
		if (assessed.all[i]->state > worst->state)
			worst = assessed.all[i];
	text[0] = '\0';
	if (worst->state > DPUMAP_CREDENTIAL_GOOD)
		snprintf(text, size, "%s: %s", worst->text, worst->advice);
}
