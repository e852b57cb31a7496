/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/peer_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <openssl/x509.h>

doca_error_t dpumap_peer_name_set(const char *kind, const char *text, size_t len,
				  char name[static DPUMAP_PEER_NAME_MAX],
				  struct dpumap_error *error)
{
	bool valid = len > 0 && strlen(kind) + len < DPUMAP_PEER_NAME_MAX;

	for (size_t i = 0; valid && i < len; i++)
		valid = isgraph((unsigned char)text[i]);
	if (!valid)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the peer's name is empty, too long or not printable");
	memcpy(name, kind, strlen(kind));
	memcpy(name + strlen(kind), text, len);
	name[strlen(kind) + len] = '\0';
	return DOCA_SUCCESS;
}

doca_error_t dpumap_peer_name_of_cert(X509 *cert, char name[static DPUMAP_PEER_NAME_MAX],
				      struct dpumap_error *error)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	unsigned char *text = NULL;
	doca_error_t result;
	int len;

	if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the peer's certificate must have exactly one common name");
	len = ASN1_STRING_to_UTF8(&text,
				  X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	if (len < 0)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the common name of the peer's certificate is not text");
	result = dpumap_peer_name_set("cert:", (const char *)text, (size_t)len, name, error);
	OPENSSL_free(text);
	return result;
}
