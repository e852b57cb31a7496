/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/pki/pki.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/x509.h>

#include "base/array.h"
#include "channel/message.h"
#include "common/pem.h"
#include "host/base/json.h"
#include "host/pki/pki_cert.h"
#include "host/pki/pki_files.h"
#include "host/pki/pki_san.h"

#define CA_DAYS	   3650
#define LEAF_DAYS  365
#define CRL_DAYS   365
#define USUAL_TYPE "p256"
#define NAME_OF_CA "ca"
#define NAME_TEXT  65 /* a common name with the NUL */

/* An existing CA. */
struct ca {
	struct pki_dir dir;
	char crl_path[PATH_MAX];
	X509 *cert;
	EVP_PKEY *key;
	X509_CRL *crl;
};

static void close_ca(struct ca *a)
{
	X509_CRL_free(a->crl);
	EVP_PKEY_free(a->key);
	X509_free(a->cert);
	pki_dir_close(&a->dir);
}

static doca_error_t read_ca_cert(struct ca *a, struct dpumap_error *error)
{
	char path[PATH_MAX];
	doca_error_t result = pki_path(&a->dir, PKI_ISSUED, NAME_OF_CA, ".crt", path, error);

	return result == DOCA_SUCCESS ? dpumap_pem_read_cert(path, &a->cert, error) : result;
}

static doca_error_t read_ca_key(struct ca *a, struct dpumap_error *error)
{
	char path[PATH_MAX];
	doca_error_t result = pki_path(&a->dir, PKI_ISSUED, NAME_OF_CA, ".key", path, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_key(path, &a->key, error);
	if (result == DOCA_SUCCESS && X509_check_private_key(a->cert, a->key) != 1)
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "%s is not the private key of the CA certificate", path);
	return result;
}

static doca_error_t read_ca_list(struct ca *a, struct dpumap_error *error)
{
	doca_error_t result = pki_path(&a->dir, PKI_ISSUED, NAME_OF_CA, ".crl", a->crl_path, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_crl(a->crl_path, &a->crl, error);
	/* A foreign list would undo all revocations. */
	if (result == DOCA_SUCCESS && X509_CRL_verify(a->crl, a->key) != 1)
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "%s is not signed by this CA", a->crl_path);
	return result;
}

static doca_error_t read_ca(struct ca *a, struct dpumap_error *error)
{
	doca_error_t result = read_ca_cert(a, error);

	if (result == DOCA_SUCCESS)
		result = read_ca_key(a, error);
	if (result == DOCA_SUCCESS)
		result = read_ca_list(a, error);
	return result;
}

static doca_error_t open_ca(struct ca *a, const struct options *options, struct dpumap_error *error)
{
	doca_error_t result;

	*a = (struct ca){.dir.fd = -1};
	result = pki_dir_open(&a->dir, options->dir, false, error);
	if (result == DOCA_SUCCESS)
		result = read_ca(a, error);
	if (result != DOCA_SUCCESS)
		close_ca(a);
	return result;
}

/* --- init ------------------------------------------------------------------------------------- */

struct new_file {
	char path[PATH_MAX];
	bool is_written;
};

static void remove_written(const struct new_file *file)
{
	if (file->is_written)
		unlink(file->path);
}

static doca_error_t make_ca(struct ca *a, const struct options *o, struct dpumap_error *error)
{
	doca_error_t result = pki_make_key(o->key_type ? o->key_type : USUAL_TYPE, &a->key, error);

	if (result == DOCA_SUCCESS)
		result = pki_make_ca(a->key, o->days ? (long)o->days : CA_DAYS, &a->cert, error);
	if (result == DOCA_SUCCESS)
		result = pki_make_crl(a->cert, a->key, NULL, NULL, CRL_DAYS, &a->crl, error);
	return result;
}

static doca_error_t write_pair(const struct pki_dir *dir, const char *name, EVP_PKEY *key,
			       X509 *cert, struct new_file *key_file, struct new_file *cert_file,
			       struct dpumap_error *error)
{
	doca_error_t result = pki_path(dir, PKI_ISSUED, name, ".key", key_file->path, error);

	if (result == DOCA_SUCCESS)
		result = pki_path(dir, PKI_ISSUED, name, ".crt", cert_file->path, error);
	if (result == DOCA_SUCCESS)
		result = pki_write_key(key_file->path, key, error);
	key_file->is_written = result == DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = pki_write_cert(cert_file->path, cert, error);
	cert_file->is_written = result == DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		remove_written(key_file);
	return result;
}

/* Refuses a directory that others can write to: reading the key detects it. */
static doca_error_t check_folder(const char *key_path, struct dpumap_error *error)
{
	EVP_PKEY *key = NULL;
	doca_error_t result = dpumap_pem_read_key(key_path, &key, error);

	EVP_PKEY_free(key);
	return result;
}

static doca_error_t write_ca(struct ca *a, struct dpumap_error *error)
{
	struct new_file key = {0}, cert = {0};
	doca_error_t result;

	result = pki_path(&a->dir, PKI_ISSUED, NAME_OF_CA, ".crl", a->crl_path, error);
	if (result == DOCA_SUCCESS && access(a->crl_path, F_OK) == 0)
		result = dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST, "%s already exists",
					  a->crl_path);
	if (result == DOCA_SUCCESS)
		result = write_pair(&a->dir, NAME_OF_CA, a->key, a->cert, &key, &cert, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = check_folder(key.path, error);
	if (result == DOCA_SUCCESS)
		result = pki_write_crl(a->crl_path, a->crl, error);
	if (result != DOCA_SUCCESS) {
		remove_written(&cert);
		remove_written(&key);
	}
	return result;
}

static void print_end(const char *what, const ASN1_TIME *end)
{
	char text[DPUMAP_PEM_TIME_MAX];

	dpumap_pem_format_time(end, text);
	printf("%s until %s\n", what, text);
}

const char *pki_check_init(const struct options *options)
{
	if (options->key_type && !pki_knows_key_type(options->key_type))
		return "--key-type must be p256 or ed25519";
	return NULL;
}

static void add_end(struct json_object *object, const char *key, const ASN1_TIME *end)
{
	char text[DPUMAP_PEM_TIME_MAX];

	dpumap_pem_format_time(end, text);
	json_add_text(object, key, text);
}

static void print_ca(const struct ca *a, bool json)
{
	struct json_object *object;

	if (!json) {
		printf("%s/ca.crt ", a->dir.path);
		print_end("is the CA certificate, valid", X509_get0_notAfter(a->cert));
		printf("%s ", a->crl_path);
		print_end("is the revocation list, valid", X509_CRL_get0_nextUpdate(a->crl));
		printf("%s/ca.key signs certificates: keep it secret\n", a->dir.path);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "directory", a->dir.path);
	add_end(object, "authority_ends", X509_get0_notAfter(a->cert));
	add_end(object, "list_ends", X509_CRL_get0_nextUpdate(a->crl));
	json_print(object);
}

doca_error_t pki_init(const struct options *options, struct dpumap_error *error)
{
	struct ca a = {.dir.fd = -1};
	doca_error_t result;

	result = pki_dir_open(&a.dir, options->dir, true, error);
	if (result == DOCA_SUCCESS)
		result = make_ca(&a, options, error);
	if (result == DOCA_SUCCESS)
		result = write_ca(&a, error);
	if (result == DOCA_SUCCESS)
		print_ca(&a, options->given & OPTION_JSON);
	close_ca(&a);
	return result;
}

/* --- issue ------------------------------------------------------------------------------------ */

/* The name is used as a file name and in allow lists. */
static const char *check_name(const char *name)
{
	if (!dpumap_export_name_valid(name))
		return "a name must be 1 to 63 of A-Z a-z 0-9 . _ - and begin with a letter or "
		       "digit";
	return strcmp(name, NAME_OF_CA) == 0 ? "the name ca is reserved for the CA" : NULL;
}

const char *pki_check_issue(const struct options *o)
{
	if (!o->dpu == !o->host)
		return "use either --dpu NAME or --host NAME";
	if (o->host && o->num_sans)
		return "--san is valid only with --dpu";
	for (size_t i = 0; i < o->num_sans; i++)
		if (pki_san_wrong(o->sans[i]))
			return pki_san_wrong(o->sans[i]);
	if (o->dpu && !check_name(o->dpu) && pki_san_wrong(o->dpu))
		return "--dpu must also be a valid DNS name or IP address";
	if (pki_check_init(o))
		return pki_check_init(o);
	return check_name(o->dpu ? o->dpu : o->host);
}

static void name_server(const struct options *o, char sans[static PKI_SANS_TEXT])
{
	sans[0] = '\0';
	pki_san_add(sans, o->dpu);
	for (size_t i = 0; i < o->num_sans; i++)
		pki_san_add(sans, o->sans[i]);
}

static void print_issued_json(const char *dir, const char *name, const X509 *cert, bool is_server)
{
	struct json_object *object = json_object_new_object();
	char serial[PKI_SERIAL_TEXT_MAX];

	pki_format_serial(cert, serial);
	json_add_text(object, "directory", dir);
	json_add_text(object, "name", name);
	json_add_text(object, "role", is_server ? "dpu" : "host");
	add_end(object, "ends", X509_get0_notAfter(cert));
	json_add_text(object, "serial", serial);
	json_print(object);
}

static void print_issued(const char *dir, const char *name, const X509 *cert, bool is_server)
{
	printf("%s/%s.crt ", dir, name);
	print_end(is_server ? "is for a DPU, valid" : "is for a host, valid",
		  X509_get0_notAfter(cert));
	if (!is_server)
		printf("its name in the allow list of an export is cert:%s\n", name);
	printf("copy to %s: %s.crt %s.key ca.crt ca.crl\n", name, name, name);
}

static void advise_renewal(const char *name, struct dpumap_error *error)
{
	size_t used = strlen(error->text);

	snprintf(error->text + used, sizeof(error->text) - used,
		 ": for a new certificate use dpumap pki renew %s, or revoke the old one first",
		 name);
}

static doca_error_t issue(struct ca *a, const struct options *o, struct dpumap_error *error)
{
	char sans[PKI_SANS_TEXT];
	const struct pki_subject subject = {.name = o->dpu ? o->dpu : o->host,
					    .is_server = o->dpu != NULL,
					    .sans = o->dpu ? sans : NULL,
					    .days = o->days ? (long)o->days : LEAF_DAYS};
	struct new_file key_file = {0}, cert_file = {0};
	EVP_PKEY *key = NULL;
	X509 *cert = NULL;
	doca_error_t result;

	if (o->dpu)
		name_server(o, sans);
	result = pki_make_key(o->key_type ? o->key_type : USUAL_TYPE, &key, error);
	if (result == DOCA_SUCCESS)
		result = pki_make_cert(a->cert, a->key, key, &subject, &cert, error);
	if (result == DOCA_SUCCESS)
		result = write_pair(&a->dir, subject.name, key, cert, &key_file, &cert_file, error);
	if (result == DOCA_ERROR_ALREADY_EXIST)
		advise_renewal(subject.name, error);
	if (result == DOCA_SUCCESS && o->given & OPTION_JSON)
		print_issued_json(a->dir.path, subject.name, cert, subject.is_server);
	else if (result == DOCA_SUCCESS)
		print_issued(a->dir.path, subject.name, cert, subject.is_server);
	X509_free(cert);
	EVP_PKEY_free(key);
	return result;
}

doca_error_t pki_issue(const struct options *options, struct dpumap_error *error)
{
	struct ca a;
	doca_error_t result = open_ca(&a, options, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = issue(&a, options, error);
	close_ca(&a);
	return result;
}

/* --- revoke ----------------------------------------------------------------------------------- */

static doca_error_t renew_list(struct ca *a, X509 *revoked, struct dpumap_error *error)
{
	X509_CRL *crl = NULL;
	doca_error_t result;

	result = pki_make_crl(a->cert, a->key, a->crl, revoked, CRL_DAYS, &crl, error);
	if (result == DOCA_SUCCESS)
		result = pki_write_crl(a->crl_path, crl, error);
	if (result != DOCA_SUCCESS) {
		X509_CRL_free(crl);
		return result;
	}
	X509_CRL_free(a->crl);
	a->crl = crl;
	return DOCA_SUCCESS;
}

static doca_error_t add_to_list(struct ca *a, const char *name, X509 *cert,
				struct dpumap_error *error)
{
	if (X509_verify(cert, a->key) != 1)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"the certificate of %s was not issued by this CA", name);
	return pki_is_revoked(a->crl, cert) ? DOCA_SUCCESS : renew_list(a, cert, error);
}

/* Writes the list first: a listed certificate is revoked, wherever its files are. */
static doca_error_t revoke_cert(struct ca *a, const char *name, X509 *cert,
				struct dpumap_error *error)
{
	char serial[PKI_SERIAL_TEXT_MAX];
	doca_error_t result = add_to_list(a, name, cert, error);

	pki_format_serial(cert, serial);
	return result == DOCA_SUCCESS ? pki_put_away(&a->dir, name, serial, error) : result;
}

static void read_common_name(X509 *cert, char name[static NAME_TEXT])
{
	name[0] = '\0';
	X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, NAME_TEXT);
}

struct revocation {
	struct ca *ca;
	const char *name;
};

static doca_error_t revoke_replaced(void *context, const char *file, struct dpumap_error *error)
{
	const struct revocation *r = context;
	char path[PATH_MAX], name[NAME_TEXT];
	X509 *cert = NULL;
	doca_error_t result = pki_path(&r->ca->dir, PKI_REPLACED, file, ".crt", path, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_cert(path, &cert, error);
	if (result != DOCA_SUCCESS)
		return result;
	read_common_name(cert, name);
	if (strcmp(name, r->name) == 0) {
		result = add_to_list(r->ca, name, cert, error);
		if (result == DOCA_SUCCESS)
			result = pki_put_away_replaced(&r->ca->dir, file, error);
	}
	X509_free(cert);
	return result;
}

static void print_list_end(const struct ca *a, bool json)
{
	const ASN1_TIME *end = X509_CRL_get0_nextUpdate(a->crl);
	struct json_object *object;

	if (!json) {
		printf("%s ", a->crl_path);
		print_end("renewed, valid", end);
		printf("copy it to all peers and reload dpumapd\n");
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "list", a->crl_path);
	add_end(object, "list_ends", end);
	json_print(object);
}

doca_error_t pki_revoke(const struct options *options, struct dpumap_error *error)
{
	const char *name = options->args[0], *wrong = check_name(name);
	char path[PATH_MAX];
	struct ca a;
	X509 *cert = NULL;
	doca_error_t result;

	if (wrong)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "%s", wrong);
	result = open_ca(&a, options, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = pki_path(&a.dir, PKI_ISSUED, name, ".crt", path, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_cert(path, &cert, error);
	if (result == DOCA_SUCCESS)
		result = revoke_cert(&a, name, cert, error);
	if (result == DOCA_SUCCESS)
		result = pki_for_each(&a.dir, PKI_REPLACED, revoke_replaced,
				      &(struct revocation){&a, name}, error);
	if (result == DOCA_SUCCESS)
		print_list_end(&a, options->given & OPTION_JSON);
	X509_free(cert);
	close_ca(&a);
	return result;
}

/* --- renew ------------------------------------------------------------------------------------ */

static void print_renewed(const struct ca *a, const char *name, const X509 *old, const X509 *cert,
			  bool has_new_key)
{
	char end[DPUMAP_PEM_TIME_MAX];

	printf("%s/%s.crt ", a->dir.path, name);
	print_end("renewed, valid", X509_get0_notAfter(cert));
	dpumap_pem_format_time(X509_get0_notAfter(old), end);
	printf("the old certificate is accepted until %s, or until pki revoke %s\n", end, name);
	printf("copy to %s: %s.crt%s%s%s\n", name, name, has_new_key ? " " : "",
	       has_new_key ? name : "", has_new_key ? ".key" : "");
}

/* The key may be on the machine of its owner alone: the old certificate has its public part. */
static doca_error_t key_of_renewed(const struct options *o, X509 *old, EVP_PKEY **key,
				   struct dpumap_error *error)
{
	const char *type = o->key_type ? o->key_type : pki_key_type(X509_get0_pubkey(old));

	if (o->given & OPTION_NEW_KEY)
		return pki_make_key(type, key, error);
	*key = X509_get_pubkey(old);
	return *key ? DOCA_SUCCESS
		    : dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
				       "the old certificate has no valid key: use --new-key");
}

/* The current files of a name, and where the old ones are kept. */
struct renewal {
	char cert[PATH_MAX], key[PATH_MAX], old_cert[PATH_MAX], old_key[PATH_MAX];
};

static doca_error_t name_renewal(struct renewal *r, const struct pki_dir *dir, const char *name,
				 const char *serial, struct dpumap_error *error)
{
	doca_error_t result = pki_path(dir, PKI_ISSUED, name, ".crt", r->cert, error);
	char end[96];

	if (result == DOCA_SUCCESS)
		result = pki_path(dir, PKI_ISSUED, name, ".key", r->key, error);
	snprintf(end, sizeof(end), "-%s.crt", serial);
	if (result == DOCA_SUCCESS)
		result = pki_path(dir, PKI_REPLACED, name, end, r->old_cert, error);
	snprintf(end, sizeof(end), "-%s.key", serial);
	if (result == DOCA_SUCCESS)
		result = pki_path(dir, PKI_REPLACED, name, end, r->old_key, error);
	return result;
}

/* Keeps the old files, then replaces them. */
static doca_error_t write_renewed(const struct pki_dir *dir, const char *name, const X509 *old,
				  X509 *cert, EVP_PKEY *new_key, struct dpumap_error *error)
{
	char serial[PKI_SERIAL_TEXT_MAX];
	bool has_replaced_key = false;
	struct renewal r;
	doca_error_t result;

	pki_format_serial(old, serial);
	result = name_renewal(&r, dir, name, serial, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = pki_keep(dir, r.cert, r.old_cert, error);
	if (result == DOCA_SUCCESS && new_key)
		result = pki_keep(dir, r.key, r.old_key, error);
	if (result == DOCA_SUCCESS && new_key) {
		result = pki_replace_key(r.key, new_key, error);
		has_replaced_key = result == DOCA_SUCCESS;
	}
	if (result == DOCA_SUCCESS)
		result = pki_replace_cert(r.cert, cert, error);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	/* If there was no old key here, there is none again. */
	if (has_replaced_key && rename(r.old_key, r.key) != 0)
		unlink(r.key);
	unlink(r.old_key);
	unlink(r.old_cert);
	return result;
}

static doca_error_t renew_cert(struct ca *a, const struct options *o, X509 *old,
			       struct dpumap_error *error)
{
	const struct pki_subject subject = {.name = o->args[0],
					    .is_server = pki_is_server(old),
					    .old = old,
					    .days = o->days ? (long)o->days : LEAF_DAYS};
	bool has_new_key = o->given & OPTION_NEW_KEY;
	EVP_PKEY *key = NULL;
	X509 *cert = NULL;
	doca_error_t result;

	if (X509_verify(old, a->key) != 1)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"the certificate of %s was not issued by this CA",
					subject.name);
	result = key_of_renewed(o, old, &key, error);
	if (result == DOCA_SUCCESS)
		result = pki_make_cert(a->cert, a->key, key, &subject, &cert, error);
	if (result == DOCA_SUCCESS)
		result = write_renewed(&a->dir, subject.name, old, cert, has_new_key ? key : NULL,
				       error);
	if (result == DOCA_SUCCESS && o->given & OPTION_JSON)
		print_issued_json(a->dir.path, subject.name, cert, subject.is_server);
	else if (result == DOCA_SUCCESS)
		print_renewed(a, subject.name, old, cert, has_new_key);
	X509_free(cert);
	EVP_PKEY_free(key);
	return result;
}

static doca_error_t renew_named(struct ca *a, const struct options *o, struct dpumap_error *error)
{
	char path[PATH_MAX];
	X509 *old = NULL;
	doca_error_t result = pki_path(&a->dir, PKI_ISSUED, o->args[0], ".crt", path, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_cert(path, &old, error);
	if (result == DOCA_SUCCESS)
		result = renew_cert(a, o, old, error);
	X509_free(old);
	return result;
}

const char *pki_check_renew(const struct options *o)
{
	if (!o->num_args && o->given & (OPTION_DAYS | OPTION_KEY_TYPE | OPTION_NEW_KEY))
		return "--days, --key-type and --new-key need the NAME of a certificate";
	if (o->key_type && !(o->given & OPTION_NEW_KEY))
		return "--key-type is valid only with --new-key";
	if (pki_check_init(o))
		return pki_check_init(o);
	return o->num_args ? check_name(o->args[0]) : NULL;
}

doca_error_t pki_renew(const struct options *options, struct dpumap_error *error)
{
	struct ca a;
	doca_error_t result = open_ca(&a, options, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (options->num_args) {
		result = renew_named(&a, options, error);
	} else {
		result = renew_list(&a, NULL, error);
		if (result == DOCA_SUCCESS)
			print_list_end(&a, options->given & OPTION_JSON);
	}
	close_ca(&a);
	return result;
}

/* --- list ------------------------------------------------------------------------------------- */

struct listing {
	struct ca *ca;
	enum pki_folder folder;
	struct json_object *list; /* NULL: print lines */
};

static const char *state_of(const struct listing *l, X509 *cert)
{
	if (pki_is_revoked(l->ca->crl, cert))
		return "revoked";
	if (pki_is_expired(cert))
		return "expired";
	return l->folder == PKI_REPLACED ? "replaced" : "valid";
}

static void print_cert(const struct listing *l, const char *name, X509 *cert)
{
	const char *role = pki_is_server(cert) ? "dpu" : "host";
	char serial[PKI_SERIAL_TEXT_MAX], end[DPUMAP_PEM_TIME_MAX];
	struct json_object *object;

	pki_format_serial(cert, serial);
	dpumap_pem_format_time(X509_get0_notAfter(cert), end);
	if (!l->list) {
		printf("%-24s %-5s %-21s %-8s %s\n", name, role, end, state_of(l, cert), serial);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "name", name);
	json_add_text(object, "role", role);
	json_add_text(object, "ends", end);
	json_add_text(object, "state", state_of(l, cert));
	json_add_text(object, "serial", serial);
	json_object_array_add(l->list, object);
}

/* Uses the name in the certificate: file names of older ones contain the serial number too. */
static doca_error_t list_cert(void *context, const char *file, struct dpumap_error *error)
{
	const struct listing *l = context;
	char path[PATH_MAX], name[NAME_TEXT];
	X509 *cert = NULL;
	doca_error_t result;

	result = pki_path(&l->ca->dir, l->folder, file, ".crt", path, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_pem_read_cert(path, &cert, error);
	if (result != DOCA_SUCCESS)
		return result;
	read_common_name(cert, name);
	print_cert(l, name, cert);
	X509_free(cert);
	return DOCA_SUCCESS;
}

static doca_error_t list_all(struct listing *l, struct dpumap_error *error)
{
	static const enum pki_folder folders[] = {PKI_ISSUED, PKI_REPLACED, PKI_REVOKED};
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && result == DOCA_SUCCESS; i++) {
		l->folder = folders[i];
		result = pki_for_each(&l->ca->dir, l->folder, list_cert, l, error);
	}
	return result;
}

static doca_error_t list_json(struct listing *l, struct dpumap_error *error)
{
	struct json_object *object = json_object_new_object();
	doca_error_t result;

	add_end(object, "authority_ends", X509_get0_notAfter(l->ca->cert));
	add_end(object, "list_ends", X509_CRL_get0_nextUpdate(l->ca->crl));
	l->list = json_object_new_array();
	json_object_object_add(object, "certificates", l->list);
	result = list_all(l, error);
	if (result == DOCA_SUCCESS)
		json_print(object);
	else
		json_object_put(object);
	return result;
}

doca_error_t pki_list(const struct options *options, struct dpumap_error *error)
{
	struct ca a;
	struct listing l = {.ca = &a};
	doca_error_t result = open_ca(&a, options, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (options->given & OPTION_JSON) {
		result = list_json(&l, error);
	} else {
		printf("%-24s %-5s %-21s %-8s %s\n", "NAME", "ROLE", "ENDS", "STATE", "SERIAL");
		result = list_all(&l, error);
	}
	close_ca(&a);
	return result;
}
