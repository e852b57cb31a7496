/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/base/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "dpu/base/log.h"
#include "local/trusted.h"

static doca_error_t find_group(const char *name, gid_t *gid, struct dpumap_error *error)
{
	const struct group *found;

	if (!name)
		return DOCA_SUCCESS;
	found = getgrnam(name);
	if (!found)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "group %s does not exist",
					name);
	*gid = found->gr_gid;
	return DOCA_SUCCESS;
}

/* A service manager may have switched already, and its filter may refuse the system calls. */
static bool is_current(uid_t uid, gid_t gid)
{
	return geteuid() == uid && getegid() == gid;
}

/* The user, who must exist and must be one that this process can become. */
static doca_error_t find(const char *user, const char *group, uid_t *uid, gid_t *gid,
			 struct dpumap_error *error)
{
	const struct passwd *found = getpwnam(user);
	doca_error_t result;

	if (!found)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "user %s does not exist",
					user);
	*uid = found->pw_uid;
	*gid = found->pw_gid;
	result = find_group(group, gid, error);
	if (result != DOCA_SUCCESS || is_current(*uid, *gid) || geteuid() == 0)
		return result;
	return dpumap_error_set(
		error, DOCA_ERROR_NOT_PERMITTED,
		"cannot switch to user %u and group %u: dpumapd runs as user %u and group "
		"%u, not as root; remove user and group from the configuration",
		*uid, *gid, geteuid(), getegid());
}

doca_error_t privileges_check(const char *user, const char *group, struct dpumap_error *error)
{
	uid_t uid;
	gid_t gid;

	return user ? find(user, group, &uid, &gid, error) : DOCA_SUCCESS;
}

doca_error_t privileges_forbid_dumps(struct dpumap_error *error)
{
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		return dpumap_error_errno(error, errno, "cannot make the process non-dumpable");
	return DOCA_SUCCESS;
}

/* has_groups: with the supplementary groups of the user, as a service manager does it. */
static doca_error_t become(const char *user, const char *group, bool has_groups,
			   struct dpumap_error *error)
{
	uid_t uid = 0;
	gid_t gid = 0;
	doca_error_t result = find(user, group, &uid, &gid, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_current(uid, gid) &&
	    ((has_groups ? initgroups(user, gid) : setgroups(1, &gid)) != 0 ||
	     setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0))
		return dpumap_error_errno(error, errno, "cannot switch to user %u", uid);
	/* A switch of the user resets it to fs.suid_dumpable. */
	return privileges_forbid_dumps(error);
}

doca_error_t privileges_become(const char *user, const char *group, struct dpumap_error *error)
{
	return become(user, group, false, error);
}

doca_error_t privileges_drop(const char *user, const char *group, struct dpumap_error *error)
{
	doca_error_t result;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return dpumap_error_errno(error, errno, "cannot set no_new_privs");
	if (!user)
		return DOCA_SUCCESS;
	result = become(user, group, false, error);
	if (result == DOCA_SUCCESS)
		log_line("runs as user %s", user);
	return result;
}

bool privileges_has_service_user(void)
{
	return getpwnam(PRIVILEGES_SERVICE_USER) != NULL;
}

doca_error_t privileges_become_service(struct dpumap_error *error)
{
	return become(PRIVILEGES_SERVICE_USER, NULL, true, error);
}

void privileges_trust_service(const char *user)
{
	const struct passwd *found;

	if (geteuid() != 0)
		return;
	found = getpwnam(user ? user : PRIVILEGES_SERVICE_USER);
	if (found)
		dpumap_trusted_secret_owner(found->pw_uid);
}
