/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fleet/etcd/files.h"
#include "secret/secret.h"

static bool put(char *body, size_t *used, const char *text)
{
	size_t len = strlen(text);

	if (*used + len + 1 > DPUMAP_LOGIN_SIZE)
		return false;
	memcpy(body + *used, text, len + 1);
	*used += len;
	return true;
}

/* As a JSON string. */
static bool put_string(char *body, size_t *used, const char *text)
{
	char escaped[8];

	if (!put(body, used, "\""))
		return false;
	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned char)*text);
		else
			snprintf(escaped, sizeof(escaped), "%c", *text);
		if (!put(body, used, escaped))
			return false;
	}
	return put(body, used, "\"");
}

doca_error_t dpumap_login_body(const char *user, const char *password_file, char **body,
			       struct dpumap_error *error)
{
	struct dpumap_fleet_file password = {0};
	doca_error_t result;
	size_t used = 0;
	char *made;

	result = dpumap_fleet_file_password(password_file, &password, error);
	if (result != DOCA_SUCCESS)
		return result;
	made = dpumap_secret_alloc(DPUMAP_LOGIN_SIZE);
	if (!made)
		result = dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a login");
	else if (!put(made, &used, "{\"name\":") || !put_string(made, &used, user) ||
		 !put(made, &used, ",\"password\":") || !put_string(made, &used, password.bytes) ||
		 !put(made, &used, "}"))
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "the user or the password for etcd is too long");
	dpumap_fleet_file_wipe(&password);
	if (result == DOCA_SUCCESS)
		*body = made;
	else
		dpumap_secret_free(made, DPUMAP_LOGIN_SIZE);
	return result;
}
