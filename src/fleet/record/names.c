/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/record/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT	   "/dpumap/v1/"

#define LETTERS	   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS	   "0123456789"
#define NAME_CHARS LETTERS DIGITS "-_."
#define HOST_CHARS NAME_CHARS ":[]%"

#define VALUE_MAX  63
#define PORT_MAX   65535

void dpumap_fleet_copy(char *to, size_t size, const char *text)
{
	size_t len = strnlen(text, size - 1);

	memcpy(to, text, len);
	to[len] = '\0';
}

static bool valid_name(const char *name, size_t len)
{
	return len > 0 && len <= DPUMAP_FLEET_NAME_MAX && strspn(name, NAME_CHARS) >= len &&
	       strspn(name, LETTERS DIGITS) > 0;
}

bool dpumap_fleet_name_valid(const char *name)
{
	return valid_name(name, strlen(name));
}

doca_error_t dpumap_fleet_name_check(const char *what, const char *name, struct dpumap_error *error)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE];

	if (dpumap_fleet_name_valid(name))
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
				"%s \"%s\" is not valid: use 1 to 63 letters, digits, \"-\", \"_\" "
				"and \".\", with a letter or a digit first",
				what, dpumap_fleet_shown(name, strlen(name), shown));
}

static bool printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

doca_error_t dpumap_fleet_label_check(const char *label, struct dpumap_error *error)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE];
	const char *sign = strchr(label, '=');

	if (sign && valid_name(label, (size_t)(sign - label)) && strlen(sign + 1) <= VALUE_MAX &&
	    printable(sign + 1))
		return DOCA_SUCCESS;
	return dpumap_error_set(
		error, DOCA_ERROR_INVALID_VALUE,
		"label \"%s\" is not valid: write KEY=VALUE, with a key of letters, "
		"digits, \"-\", \"_\" and \".\", each at most 63 characters",
		dpumap_fleet_shown(label, strlen(label), shown));
}

/* HOST:PORT or [IPV6]:PORT */
static bool valid_host(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t host = colon ? (size_t)(colon - text) : 0;
	char *end;

	if (!host || strspn(text, HOST_CHARS) != strlen(text))
		return false;
	if (text[0] == '[' ? text[host - 1] != ']' : memchr(text, ':', host) != NULL)
		return false;
	if (!colon[1] || strlen(colon + 1) > 5 || strspn(colon + 1, DIGITS) != strlen(colon + 1))
		return false;
	host = strtoul(colon + 1, &end, 10);
	return host > 0 && host <= PORT_MAX;
}

doca_error_t dpumap_fleet_url_check(const char *url, struct dpumap_error *error)
{
	char shown[DPUMAP_FLEET_SHOWN_SIZE];
	const char *host = NULL;

	if (strncmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (strncmp(url, "https://", 8) == 0)
		host = url + 8;
	if (host && strlen(url) < DPUMAP_FLEET_URL_MAX && valid_host(host))
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
				"endpoint \"%s\" is not valid: write http://HOST:PORT or "
				"https://HOST:PORT",
				dpumap_fleet_shown(url, strlen(url), shown));
}

bool dpumap_fleet_address_valid(const char *address)
{
	return strncmp(address, "tls:", 4) == 0 && strlen(address) < DPUMAP_FLEET_URL_MAX &&
	       valid_host(address + 4);
}

void dpumap_fleet_key_dpu(const char *fleet, const char *dpu, char key[DPUMAP_FLEET_KEY_SIZE])
{
	snprintf(key, DPUMAP_FLEET_KEY_SIZE, ROOT "%s/dpus/%s", fleet, dpu ? dpu : "");
}

void dpumap_fleet_key_export(const char *fleet, const char *dpu, const char *name,
			     char key[DPUMAP_FLEET_KEY_SIZE])
{
	snprintf(key, DPUMAP_FLEET_KEY_SIZE, ROOT "%s/exports/%s%s%s", fleet, dpu ? dpu : "",
		 dpu ? "/" : "", name ? name : "");
}

void dpumap_fleet_key_end(const char *key, char end[DPUMAP_FLEET_KEY_SIZE])
{
	size_t len = strlen(key);

	memcpy(end, key, len + 1);
	end[len - 1]++;
}

/* Copies the part up to the separator or the end; returns the rest, NULL if the part is not a name. */
static const char *take_name(const char *text, const char *end, char separator,
			     char name[DPUMAP_FLEET_NAME_SIZE])
{
	const char *stop = separator ? memchr(text, separator, (size_t)(end - text)) : end;

	if (!stop || stop - text > DPUMAP_FLEET_NAME_MAX)
		return NULL;
	memcpy(name, text, (size_t)(stop - text));
	name[stop - text] = '\0';
	if (strlen(name) != (size_t)(stop - text) || !dpumap_fleet_name_valid(name))
		return NULL;
	return separator ? stop + 1 : stop;
}

static const char *skip(const char *text, const char *end, const char *prefix)
{
	size_t len = strlen(prefix);

	if ((size_t)(end - text) < len || memcmp(text, prefix, len) != 0)
		return NULL;
	return text + len;
}

bool dpumap_fleet_key_parse(const char *fleet, const void *key, size_t len,
			    struct dpumap_fleet_key *parsed)
{
	char prefix[DPUMAP_FLEET_KEY_SIZE];
	const char *text = key, *end = text + len, *rest;

	dpumap_fleet_key_dpu(fleet, NULL, prefix);
	parsed->name[0] = '\0';
	rest = skip(text, end, prefix);
	if (rest)
		return take_name(rest, end, '\0', parsed->dpu) != NULL;
	dpumap_fleet_key_export(fleet, NULL, NULL, prefix);
	rest = skip(text, end, prefix);
	if (rest)
		rest = take_name(rest, end, '/', parsed->dpu);
	return rest && take_name(rest, end, '\0', parsed->name);
}

doca_error_t dpumap_fleet_target_parse(const char *text, struct dpumap_fleet_key *parsed,
				       struct dpumap_error *error)
{
	const char *colon = strchr(text, ':');
	const char *end = text + strlen(text), *rest = text;
	char shown[DPUMAP_FLEET_SHOWN_SIZE];

	parsed->name[0] = '\0';
	rest = take_name(rest, end, colon ? ':' : '\0', parsed->dpu);
	if (rest && colon)
		rest = take_name(rest, end, '\0', parsed->name);
	if (rest)
		return DOCA_SUCCESS;
	return dpumap_error_set(
		error, DOCA_ERROR_INVALID_VALUE,
		"\"%s\" is not a name in a fleet: write DPU:EXPORT, each of 1 to 63 "
		"letters, digits, \"-\", \"_\" and \".\"",
		dpumap_fleet_shown(text, strlen(text), shown));
}

const char *dpumap_fleet_shown(const void *bytes, size_t len, char shown[DPUMAP_FLEET_SHOWN_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	size_t used = 0, i;

	for (i = 0; i < len && used + 8 < DPUMAP_FLEET_SHOWN_SIZE; i++) {
		if (from[i] >= ' ' && from[i] <= '~') {
			shown[used++] = (char)from[i];
			continue;
		}
		shown[used++] = '\\';
		shown[used++] = 'x';
		shown[used++] = digits[from[i] >> 4];
		shown[used++] = digits[from[i] & 15];
	}
	dpumap_fleet_copy(shown + used, DPUMAP_FLEET_SHOWN_SIZE - used, i < len ? "..." : "");
	return shown;
}
