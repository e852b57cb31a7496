/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/psk.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "local/trusted.h"
#include "secret/secret.h"

#define KEY_MIN	     32u
#define KEY_MAX	     64u
#define KEYS_MAX     1024u
#define LINE_MAX_LEN (DPUMAP_PSK_NAME_MAX + 2 * KEY_MAX + 2)

struct psk {
	char name[DPUMAP_PSK_NAME_MAX];
	unsigned char key[KEY_MAX];
	size_t len;
};

struct psk_table {
	struct psk *keys;
	size_t num, max;
	const struct psk *own; /* on a client: the key that it uses */
	/*
	 * On a server: a random key without a name, for clients whose name is unknown. They fail at the
	 * same step as clients with a wrong key: names are not disclosed.
	 */
	struct psk decoy;
};

/* TLS_AES_256_GCM_SHA384: the only cipher suite used with a pre-shared key. */
static const unsigned char suite[] = {0x13, 0x02};

static void free_table(struct psk_table *table)
{
	if (!table)
		return;
	dpumap_secret_free(table->keys, table->max * sizeof(*table->keys));
	dpumap_secret_free(table, sizeof(*table));
}

static void free_ex_data(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
			 void *argp)
{
	(void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
	free_table(ptr);
}

static int table_index, session_index;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

static void make_indexes(void)
{
	table_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_ex_data);
	session_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static bool parse_key(const char *hex, struct psk *psk)
{
	return OPENSSL_hexstr2buf_ex(psk->key, sizeof(psk->key), &psk->len, hex, '\0') &&
	       psk->len >= KEY_MIN;
}

static bool parse_name(const char *text, size_t len, struct psk *psk)
{
	if (len == 0 || len >= sizeof(psk->name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	memcpy(psk->name, text, len);
	return true;
}

/* Looks at all keys, so that the time does not depend on the result. */
static const struct psk *find(const struct psk_table *table, const char *name, size_t len)
{
	const struct psk *found = NULL;

	for (size_t i = 0; i < table->num; i++)
		if (strlen(table->keys[i].name) == len &&
		    CRYPTO_memcmp(table->keys[i].name, name, len) == 0)
			found = &table->keys[i];
	return found;
}

/* Errors contain the line number, never the line: it has a key. */
static doca_error_t add_line(struct psk_table *table, const char *path, unsigned int number,
			     const char *line, struct dpumap_error *error)
{
	struct psk *psk = &table->keys[table->num];
	const char *colon = strchr(line, ':');

	if (table->num == table->max)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s: more than %u keys", path,
					KEYS_MAX);
	if (!colon || !parse_name(line, (size_t)(colon - line), psk) || !parse_key(colon + 1, psk))
		return dpumap_error_set(
			error, DOCA_ERROR_BAD_CONFIG,
			"%s:%u: not NAME:KEY with a key of %u to %u bytes in hexadecimal", path,
			number, KEY_MIN, KEY_MAX);
	if (find(table, psk->name, strlen(psk->name)))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s:%u: %s has a second key",
					path, number, psk->name);
	table->num++;
	return DOCA_SUCCESS;
}

/* False at the end. A NUL byte, which would hide the rest of the line, becomes a character. */
static bool next_line(char *line, size_t size, FILE *file)
{
	char *end, *nul;

	memset(line, '\n', size);
	if (!fgets(line, (int)size, file))
		return false;
	end = memrchr(line, '\0', size);
	while ((nul = memchr(line, '\0', (size_t)(end - line))))
		*nul = '?';
	line[strcspn(line, "\r\n")] = '\0';
	return true;
}

static doca_error_t read_lines(struct psk_table *table, const char *path, FILE *file,
			       struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	unsigned int number = 0;
	char line[LINE_MAX_LEN + 2];

	while (result == DOCA_SUCCESS && next_line(line, sizeof(line), file)) {
		number++;
		if (line[0] && line[0] != '#')
			result = add_line(table, path, number, line, error);
	}
	explicit_bzero(line, sizeof(line));
	if (result == DOCA_SUCCESS && ferror(file))
		return dpumap_error_errno(error, errno, "cannot read %s", path);
	if (result == DOCA_SUCCESS && table->num == 0)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s contains no key", path);
	return result;
}

static doca_error_t read_file(struct psk_table *table, const char *path, struct dpumap_error *error)
{
	char buffer[BUFSIZ];
	doca_error_t result;
	FILE *file;
	int fd;

	result = dpumap_trusted_open(path, true, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory to read %s", path);
	}
	/* A local buffer, so that it can be wiped. */
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	result = read_lines(table, path, file, error);
	fclose(file);
	explicit_bzero(buffer, sizeof(buffer));
	return result;
}

static SSL_SESSION *make_session(SSL *ssl, const struct psk *psk)
{
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
	SSL_SESSION *session = SSL_SESSION_new();

	if (cipher && session && SSL_SESSION_set1_master_key(session, psk->key, psk->len) &&
	    SSL_SESSION_set_cipher(session, cipher) &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) &&
	    SSL_set_ex_data(ssl, session_index, (void *)psk))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int find_session(SSL *ssl, const unsigned char *name, size_t len, SSL_SESSION **session)
{
	const struct psk_table *table = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), table_index);
	const struct psk *psk = find(table, (const char *)name, len);

	*session = make_session(ssl, psk ? psk : &table->decoy);
	return *session != NULL;
}

static int use_session(SSL *ssl, const EVP_MD *md, const unsigned char **name, size_t *len,
		       SSL_SESSION **session)
{
	const struct psk_table *table = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), table_index);

	(void)md;
	*session = make_session(ssl, table->own);
	*name = (const unsigned char *)table->own->name;
	*len = strlen(table->own->name);
	return *session != NULL;
}

static doca_error_t choose(struct psk_table *table, const char *path, const char *name,
			   struct dpumap_error *error)
{
	table->own = name ? find(table, name, strlen(name)) : &table->keys[0];
	if (!table->own)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "%s contains no key called %s",
					path, name);
	return DOCA_SUCCESS;
}

static doca_error_t make_decoy(struct psk_table *table, struct dpumap_error *error)
{
	table->decoy.len = KEY_MIN;
	if (RAND_priv_bytes(table->decoy.key, KEY_MIN) != 1)
		return dpumap_error_set(error, DOCA_ERROR_OPERATING_SYSTEM,
					"OpenSSL has no random numbers for TLS");
	return DOCA_SUCCESS;
}

static struct psk_table *allocate(size_t max, struct dpumap_error *error)
{
	struct psk_table *table = dpumap_secret_alloc(sizeof(*table));

	if (table) {
		table->max = max;
		table->keys = dpumap_secret_alloc(max * sizeof(*table->keys));
	}
	if (!table || !table->keys || !CRYPTO_THREAD_run_once(&once, make_indexes)) {
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for keys");
		free_table(table);
		return NULL;
	}
	return table;
}

static doca_error_t fill(struct psk_table *table, const char *path, const char *name,
			 bool is_server, struct dpumap_error *error)
{
	doca_error_t result = read_file(table, path, error);

	if (result != DOCA_SUCCESS)
		return result;
	return is_server ? make_decoy(table, error) : choose(table, path, name, error);
}

/* The context owns the table from then on. */
static bool attach(SSL_CTX *ctx, struct psk_table *table)
{
	return SSL_CTX_set_ciphersuites(ctx, "TLS_AES_256_GCM_SHA384") &&
	       SSL_CTX_set_ex_data(ctx, table_index, table);
}

static void set_callback(SSL_CTX *ctx, bool is_server)
{
	if (!is_server) {
		SSL_CTX_set_psk_use_session_callback(ctx, use_session);
		return;
	}
	SSL_CTX_set_psk_find_session_callback(ctx, find_session);
	/* Sessions with a key count as resumed, which requires a session id context. */
	SSL_CTX_set_session_id_context(ctx, suite, sizeof(suite));
}

/* Takes the table over, also on failure. */
static doca_error_t use_table(SSL_CTX *ctx, struct psk_table *table, bool is_server,
			      struct dpumap_error *error)
{
	if (!attach(ctx, table)) {
		free_table(table);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for keys");
	}
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is the context's */
	set_callback(ctx, is_server);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_psk_use(SSL_CTX *ctx, const char *path, const char *name, bool is_server,
			    struct dpumap_error *error)
{
	struct psk_table *table = allocate(KEYS_MAX, error);
	doca_error_t result;

	if (!table)
		return DOCA_ERROR_NO_MEMORY;
	result = fill(table, path, name, is_server, error);
	if (result == DOCA_SUCCESS)
		return use_table(ctx, table, is_server, error);
	free_table(table);
	return result;
}

doca_error_t dpumap_psk_use_key(SSL_CTX *ctx, const unsigned char *key, size_t len, bool is_server,
				struct dpumap_error *error)
{
	static const char name[] = "introduced";
	struct psk_table *table = allocate(1, error);
	struct psk *own;

	if (!table)
		return DOCA_ERROR_NO_MEMORY;
	own = &table->keys[table->num++];
	memcpy(own->name, name, sizeof(name));
	memcpy(own->key, key, len);
	own->len = len;
	table->own = own;
	if (is_server && make_decoy(table, error) != DOCA_SUCCESS) {
		free_table(table);
		return error->code;
	}
	return use_table(ctx, table, is_server, error);
}

bool dpumap_psk_is_unknown(SSL *ssl)
{
	const struct psk *psk = SSL_get_ex_data(ssl, session_index);

	return psk && !psk->name[0];
}

/* The result belongs to the table of the session's context, which outlives the session. */
static const struct psk *psk_of(SSL *ssl)
{
	if (!SSL_session_reused(ssl))
		return NULL;
	return SSL_get_ex_data(ssl, session_index);
}

const char *dpumap_psk_name(SSL *ssl)
{
	const struct psk *psk = psk_of(ssl);

	return psk ? psk->name : NULL;
}

bool dpumap_psk_is_known(const SSL_CTX *ctx, SSL *ssl)
{
	const struct psk_table *table = SSL_CTX_get_ex_data(ctx, table_index);
	const struct psk *psk = psk_of(ssl), *now;

	if (!table || !psk)
		return false;
	now = find(table, psk->name, strlen(psk->name));
	return now && now->len == psk->len && CRYPTO_memcmp(now->key, psk->key, psk->len) == 0;
}
