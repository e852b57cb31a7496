/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/pki/pki_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/pem.h>

#include "common/outfile.h"
#include "host/settings/config.h"

#define MODE_SECRET 0600
#define MODE_PUBLIC 0644

static const char *const folders[] = {
	[PKI_ISSUED] = ".", [PKI_REPLACED] = "replaced", [PKI_REVOKED] = "revoked"};

static doca_error_t too_long(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
				"the path of the CA directory is too long");
}

/* --- the directory ---------------------------------------------------------------------------- */

static doca_error_t choose_path(struct pki_dir *dir, const char *path, struct dpumap_error *error)
{
	char base[PATH_MAX];
	int n;

	if (!path && !dpumap_host_config_directory(base, sizeof(base)))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"HOME is not set: use --dir");
	n = path ? snprintf(dir->path, sizeof(dir->path), "%s", path)
		 : snprintf(dir->path, sizeof(dir->path), "%s/pki", base);
	return n > 0 && (size_t)n < sizeof(dir->path) ? DOCA_SUCCESS : too_long(error);
}

/* Creates the missing directories with mode 0700. */
static doca_error_t make_directories(const char *path, struct dpumap_error *error)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	memcpy(part, path, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return dpumap_error_errno(error, errno, "cannot create %s", part);
		part[i] = path[i];
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_dir(const struct pki_dir *dir, struct dpumap_error *error)
{
	struct stat st;

	if (fstat(dir->fd, &st) != 0)
		return dpumap_error_errno(error, errno, "cannot examine %s", dir->path);
	if (st.st_uid != geteuid())
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"%s belongs to user %u, not to the current user", dir->path,
					st.st_uid);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"%s has mode %04o, must be 0700: use chmod 700", dir->path,
					st.st_mode & 07777);
	return DOCA_SUCCESS;
}

doca_error_t pki_dir_open(struct pki_dir *dir, const char *path, bool create,
			  struct dpumap_error *error)
{
	doca_error_t result = choose_path(dir, path, error);

	dir->fd = -1;
	if (result == DOCA_SUCCESS && create)
		result = make_directories(dir->path, error);
	if (result != DOCA_SUCCESS)
		return result;
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return dpumap_error_errno(error, errno, "cannot open %s", dir->path);
	result = check_dir(dir, error);
	if (result == DOCA_SUCCESS && flock(dir->fd, LOCK_EX) != 0)
		result = dpumap_error_errno(error, errno, "cannot lock %s", dir->path);
	if (result != DOCA_SUCCESS)
		pki_dir_close(dir);
	return result;
}

void pki_dir_close(struct pki_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}

doca_error_t pki_path(const struct pki_dir *dir, enum pki_folder folder, const char *name,
		      const char *suffix, char path[static PATH_MAX], struct dpumap_error *error)
{
	bool is_below = folder != PKI_ISSUED;
	int n = snprintf(path, PATH_MAX, "%s/%s%s%s%s", dir->path, is_below ? folders[folder] : "",
			 is_below ? "/" : "", name, suffix);

	return n > 0 && n < PATH_MAX ? DOCA_SUCCESS : too_long(error);
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef int write_fn(BIO *bio, void *what);

static int write_cert(BIO *bio, void *what)
{
	return PEM_write_bio_X509(bio, what);
}

static int write_key(BIO *bio, void *what)
{
	return PEM_write_bio_PKCS8PrivateKey(bio, what, NULL, NULL, 0, NULL, NULL);
}

static int write_crl(BIO *bio, void *what)
{
	return PEM_write_bio_X509_CRL(bio, what);
}

static doca_error_t write_out(struct dpumap_outfile *out, const char *path, write_fn *write,
			      void *what, struct dpumap_error *error)
{
	BIO *bio = BIO_new(BIO_s_secmem());
	doca_error_t result;
	char *text = NULL;
	long len = 0;

	if (bio && write(bio, what))
		len = BIO_get_mem_data(bio, &text);
	if (len > 0)
		result = dpumap_outfile_write(out, text, (size_t)len, error);
	else
		result = dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory to write %s",
					  path);
	BIO_free(bio);
	if (result == DOCA_SUCCESS)
		return dpumap_outfile_commit(out, error);
	dpumap_outfile_discard(out);
	return result;
}

static doca_error_t write_new(const char *path, mode_t mode, write_fn *write, void *what,
			      struct dpumap_error *error)
{
	struct dpumap_outfile *out;
	doca_error_t result = dpumap_outfile_create_new(path, mode, &out, error);

	return result == DOCA_SUCCESS ? write_out(out, path, write, what, error) : result;
}

doca_error_t pki_write_cert(const char *path, X509 *cert, struct dpumap_error *error)
{
	return write_new(path, MODE_PUBLIC, write_cert, cert, error);
}

doca_error_t pki_write_key(const char *path, EVP_PKEY *key, struct dpumap_error *error)
{
	return write_new(path, MODE_SECRET, write_key, key, error);
}

static doca_error_t replace(const char *path, mode_t mode, write_fn *write, void *what,
			    struct dpumap_error *error)
{
	struct dpumap_outfile *out;
	doca_error_t result = dpumap_outfile_create(path, mode, &out, error);

	return result == DOCA_SUCCESS ? write_out(out, path, write, what, error) : result;
}

doca_error_t pki_replace_cert(const char *path, X509 *cert, struct dpumap_error *error)
{
	return replace(path, MODE_PUBLIC, write_cert, cert, error);
}

doca_error_t pki_replace_key(const char *path, EVP_PKEY *key, struct dpumap_error *error)
{
	return replace(path, MODE_SECRET, write_key, key, error);
}

doca_error_t pki_write_crl(const char *path, X509_CRL *crl, struct dpumap_error *error)
{
	return replace(path, MODE_PUBLIC, write_crl, crl, error);
}

/* --- certificates that are no longer current -------------------------------------------------- */

static doca_error_t make_folder(const struct pki_dir *dir, enum pki_folder folder,
				struct dpumap_error *error)
{
	if (mkdirat(dir->fd, folders[folder], 0700) != 0 && errno != EEXIST)
		return dpumap_error_errno(error, errno, "cannot create %s/%s", dir->path,
					  folders[folder]);
	return DOCA_SUCCESS;
}

static doca_error_t move(const char *from, const char *to, struct dpumap_error *error)
{
	if (rename(from, to) != 0 && errno != ENOENT)
		return dpumap_error_errno(error, errno, "cannot move %s to %s", from, to);
	return DOCA_SUCCESS;
}

static doca_error_t revoke_file(const struct pki_dir *dir, const char *name, const char *suffix,
				const char *serial, struct dpumap_error *error)
{
	char from[PATH_MAX], to[PATH_MAX], end[96];
	doca_error_t result = pki_path(dir, PKI_ISSUED, name, suffix, from, error);

	snprintf(end, sizeof(end), "-%s%s", serial, suffix);
	if (result == DOCA_SUCCESS)
		result = pki_path(dir, PKI_REVOKED, name, end, to, error);
	return result == DOCA_SUCCESS ? move(from, to, error) : result;
}

doca_error_t pki_put_away(const struct pki_dir *dir, const char *name, const char *serial,
			  struct dpumap_error *error)
{
	doca_error_t result = make_folder(dir, PKI_REVOKED, error);

	if (result == DOCA_SUCCESS)
		result = revoke_file(dir, name, ".key", serial, error);
	if (result == DOCA_SUCCESS)
		result = revoke_file(dir, name, ".crt", serial, error);
	return result;
}

doca_error_t pki_put_away_replaced(const struct pki_dir *dir, const char *file,
				   struct dpumap_error *error)
{
	static const char *const suffixes[] = {".key", ".crt"};
	doca_error_t result = make_folder(dir, PKI_REVOKED, error);
	char from[PATH_MAX], to[PATH_MAX];

	for (size_t i = 0; i < 2 && result == DOCA_SUCCESS; i++) {
		result = pki_path(dir, PKI_REPLACED, file, suffixes[i], from, error);
		if (result == DOCA_SUCCESS)
			result = pki_path(dir, PKI_REVOKED, file, suffixes[i], to, error);
		if (result == DOCA_SUCCESS)
			result = move(from, to, error);
	}
	return result;
}

doca_error_t pki_keep(const struct pki_dir *dir, const char *path, const char *kept,
		      struct dpumap_error *error)
{
	doca_error_t result = make_folder(dir, PKI_REPLACED, error);

	/* An earlier attempt may have been killed after this. */
	if (result == DOCA_SUCCESS && link(path, kept) != 0 && errno != ENOENT && errno != EEXIST)
		result = dpumap_error_errno(error, errno, "cannot keep %s as %s", path, kept);
	return result;
}

static int is_cert(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && strcmp(entry->d_name + len - 4, ".crt") == 0 &&
	       strcmp(entry->d_name, "ca.crt") != 0;
}

doca_error_t pki_for_each(const struct pki_dir *dir, enum pki_folder folder, pki_each_fn *each,
			  void *context, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	struct dirent **entries;
	int num;

	num = scandirat(dir->fd, folders[folder], &entries, is_cert, alphasort);
	if (num < 0 && folder != PKI_ISSUED && errno == ENOENT)
		return DOCA_SUCCESS;
	if (num < 0)
		return dpumap_error_errno(error, errno, "cannot read %s", dir->path);
	for (int i = 0; i < num; i++) {
		entries[i]->d_name[strlen(entries[i]->d_name) - 4] = '\0';
		if (result == DOCA_SUCCESS)
			result = each(context, entries[i]->d_name, error);
		free(entries[i]);
	}
	free(entries);
	return result;
}
