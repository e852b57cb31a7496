/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/pki/pki_san.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 63

static bool is_address(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool is_label(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	return len > 0 && len <= LABEL_MAX && text[0] != '-' && text[len - 1] != '-';
}

static size_t length_without_final_dot(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && text[len - 1] == '.' ? len - 1 : len;
}

static bool is_dns_name(const char *text)
{
	size_t len = length_without_final_dot(text), at = 0;

	while (at < len) {
		size_t label = strcspn(text + at, ".");

		if (!is_label(text + at, label))
			return false;
		at += label + 1;
	}
	return len > 0 && len <= PKI_DNS_MAX;
}

/* A name whose last label is a number was meant as an address: resolvers take it as one, or never find it. */
static bool ends_in_number(const char *text)
{
	size_t len = length_without_final_dot(text), digits = 0;

	while (digits < len && isdigit((unsigned char)text[len - digits - 1]))
		digits++;
	return digits > 0 && (digits == len || text[len - digits - 1] == '.');
}

const char *pki_san_wrong(const char *text)
{
	if (is_address(text))
		return NULL;
	if (ends_in_number(text))
		return "--san: an IPv4 address is four numbers up to 255 without leading zeros";
	return is_dns_name(text) ? NULL : "--san must be a DNS name or an IP address";
}

void pki_san_add(char sans[static PKI_SANS_TEXT], const char *text)
{
	size_t used = strlen(sans);
	bool is_ip = is_address(text);
	int len = (int)(is_ip ? strlen(text) : length_without_final_dot(text));
	int start = snprintf(sans + used, PKI_SANS_TEXT - used, "%s%s:", used ? "," : "",
			     is_ip ? "IP" : "DNS");

	used += (size_t)start;
	snprintf(sans + used, PKI_SANS_TEXT - used, "%.*s", len, text);
	for (; !is_ip && sans[used]; used++)
		sans[used] = (char)tolower((unsigned char)sans[used]);
}
