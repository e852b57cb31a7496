/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/**
 * A fleet: the DPUs and exports of many machines, found by name in etcd.
 *
 * This is the interface of libdpumap-fleet (pkg-config dpumap-fleet). Each dpumapd with a registry
 * keeps a record of itself and of its exports in etcd, under a lease. A fleet object keeps a copy of
 * these records, the view. It reads all records once and then follows the changes. While etcd is not
 * reachable, the view stays as it was, and dpumap_fleet_get_status() reports its age.
 *
 * The registry is not trusted. A record says where to look, nothing else: dpumap_fleet_connect()
 * authenticates the DPU by the name that the caller asked for, whatever the record says, and sizes
 * and permissions are those that the DPU reports over the channel.
 *
 * Names of fleets, DPUs and exports in a fleet have 1 to 63 letters, digits and the characters
 * "-", "_" and ".", and begin with a letter or a digit. DPU:EXPORT names an export.
 *
 * Thread safety: only one thread at a time may use a fleet. Different threads may use different
 * fleets at once. Only dpumap_fleet_start(), dpumap_fleet_connect(), dpumap_fleet_list_members() and
 * dpumap_fleet_list_leases() block, at most for the time of dpumap_fleet_set_timeout().
 */
#ifndef DPUMAP_FLEET_PUBLIC_H
#define DPUMAP_FLEET_PUBLIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dpumap_channel;
struct dpumap_fleet;

/** The longest name of a fleet, of a DPU, and of an export in a fleet, in bytes. */
#define DPUMAP_FLEET_NAME_MAX 63

/** The record of a DPU. All of it is what the registry says; nothing is verified. */
struct dpumap_fleet_dpu {
	const char *name;	      /**< name of the DPU */
	const char *const *addresses; /**< addresses of its dpumapd: "tls:HOST:PORT" */
	size_t num_addresses;	      /**< number of addresses */
	const char *certificate_name; /**< name in its certificate */
	const char *version;	      /**< version of its dpumapd */
	uint64_t card_guid;	      /**< GUID of its card; 0: unknown */
	uint64_t generation;	      /**< start of its dpumapd; larger after each start */
	size_t num_exports;	      /**< number of its exports in the view */
	int64_t lease;		      /**< etcd's lease of its records */
	bool needs_newer;	      /**< needs a newer dpumap: only name and lease are set */
};

/** The record of an export. All of it is what the registry says; nothing is verified. */
struct dpumap_fleet_export {
	const char *dpu;	   /**< name of the DPU */
	const char *name;	   /**< name of the export on the DPU */
	const char *kind;	   /**< kind: "dm", "dram", "file" or "dmabuf" */
	const char *via;	   /**< how hosts import it: "pci" or "rdma" */
	uint64_t size;		   /**< number of bytes */
	uint32_t access;	   /**< bits of enum doca_access_flag for PCI or for RDMA */
	uint64_t generation;	   /**< larger after each change of the export */
	const char *const *labels; /**< labels: "KEY=VALUE", sorted */
	size_t num_labels;	   /**< number of labels */
	bool needs_newer;	   /**< needs a newer dpumap: only dpu and name are set */
};

/** Events that a watcher receives. */
enum dpumap_fleet_event {
	DPUMAP_FLEET_ADDED = 0,	  /**< the DPU or export is in the view now */
	DPUMAP_FLEET_CHANGED = 1, /**< its record changed */
	DPUMAP_FLEET_REMOVED = 2, /**< it is no longer in the view; the record is the last one */
	/**
	 * The view was read again as a whole, because changes may have been missed. The events
	 * for all differences came before. Both records are NULL.
	 */
	DPUMAP_FLEET_RESYNCED = 3,
	DPUMAP_FLEET_STALE = 4, /**< etcd is not reachable; the view stays. Records are NULL */
	DPUMAP_FLEET_LIVE = 5,	/**< the view is up to date again. Records are NULL */
};

/** State of the view. */
struct dpumap_fleet_status {
	bool is_live;	       /**< the view follows etcd */
	bool from_cache;       /**< the view is that of the cache file */
	uint64_t age_ms;       /**< time since etcd last confirmed the view, in milliseconds */
	size_t num_dpus;       /**< number of DPUs in the view */
	size_t num_exports;    /**< number of exports in the view */
	size_t num_skipped;    /**< records skipped so far: malformed, too large, or too many */
	size_t num_newer;      /**< records in the view that need a newer dpumap */
	int64_t revision;      /**< etcd's revision of the view */
	uint64_t cluster_id;   /**< id of the etcd cluster; 0: not known yet */
	const char *endpoint;  /**< endpoint in use; "": none */
	uint64_t num_resyncs;  /**< how often the view was read again as a whole */
	uint64_t num_requests; /**< requests to etcd so far */
	uint64_t num_failures; /**< failed requests */
	const char *problem;   /**< why the view is not live; "" if it is */
};

/** A member of the etcd cluster, or an endpoint that does not answer. */
struct dpumap_fleet_member {
	const char *name;     /**< name of the member; "" if unknown */
	const char *endpoint; /**< URL for clients */
	const char *version;  /**< version of etcd; "" if the member does not answer */
	uint64_t id;	      /**< id of the member; 0 if unknown */
	uint64_t cluster_id;  /**< id of its cluster; 0 if unknown */
	bool is_healthy;      /**< it answers and has a leader */
	bool is_leader;	      /**< it is the leader */
	uint64_t db_bytes;    /**< size of its database in bytes */
	const char *problem;  /**< why it is not healthy; "" if it is */
};

/**
 * Report an export of a list.
 *
 * @param user_data the value passed to dpumap_fleet_list()
 * @param export_info the export; valid during the call
 */
typedef void (*dpumap_fleet_list_cb_t)(union doca_data user_data,
				       const struct dpumap_fleet_export *export_info);

/**
 * Report a DPU of a list.
 *
 * @param user_data the value passed to dpumap_fleet_list_dpus()
 * @param dpu the DPU; valid during the call
 */
typedef void (*dpumap_fleet_dpu_cb_t)(union doca_data user_data,
				      const struct dpumap_fleet_dpu *dpu);

/**
 * Report a member of the etcd cluster.
 *
 * @param user_data the value passed to dpumap_fleet_list_members()
 * @param member the member; valid during the call
 */
typedef void (*dpumap_fleet_member_cb_t)(union doca_data user_data,
					 const struct dpumap_fleet_member *member);

/**
 * Report the lease of a DPU.
 *
 * @param user_data the value passed to dpumap_fleet_list_leases()
 * @param dpu the DPU; valid during the call
 * @param remaining_s remaining time in seconds; negative: the lease has expired
 * @param granted_s time in seconds that the DPU renews the lease to
 */
typedef void (*dpumap_fleet_lease_cb_t)(union doca_data user_data,
					const struct dpumap_fleet_dpu *dpu, int64_t remaining_s,
					int64_t granted_s);

/**
 * Report an event. Only dpumap_fleet_process() calls this function, and those that wait for etcd:
 * dpumap_fleet_list_members() and dpumap_fleet_list_leases(). It may read the view, but not call
 * these functions or destroy the fleet.
 *
 * @param user_data the value passed to dpumap_fleet_watch()
 * @param event the event
 * @param dpu the DPU that the event is about; NULL if it is not about a DPU; valid during the call
 * @param export_info the export that the event is about, or NULL; valid during the call
 */
typedef void (*dpumap_fleet_watch_cb_t)(union doca_data user_data, enum dpumap_fleet_event event,
					const struct dpumap_fleet_dpu *dpu,
					const struct dpumap_fleet_export *export_info);

/**
 * Report a line for the log: a record that is skipped, an endpoint that fails or answers again.
 *
 * @param user_data the value passed to dpumap_fleet_set_log()
 * @param line the line, printable, without a newline; valid during the call
 */
typedef void (*dpumap_fleet_log_cb_t)(union doca_data user_data, const char *line);

/**
 * Create a fleet, which is not started.
 *
 * @param name name of the fleet
 * @param fleet out: the fleet, owned by the caller until dpumap_fleet_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is not valid
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted, or no file descriptor is available
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_create(const char *name, struct dpumap_fleet **fleet);

/**
 * End a fleet. Channels stay as they are.
 *
 * @param fleet the fleet, in any state; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_destroy(struct dpumap_fleet *fleet);

/**
 * Add an endpoint of etcd. All endpoints must be of one cluster.
 *
 * @param fleet a fleet that is not started
 * @param url "http://HOST:PORT" or "https://HOST:PORT"; copied
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the URL is not valid
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 * - DOCA_ERROR_FULL: there are 16 endpoints already
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_add_endpoint(struct dpumap_fleet *fleet,
							 const char *url);

/**
 * Set the files for TLS with etcd. dpumap_fleet_start() reads them. It refuses a file that other
 * users can write, and a key that other users can read.
 *
 * @param fleet a fleet that is not started
 * @param ca PEM file with the CA certificates that verify etcd's certificates
 * @param cert PEM file with the certificate for etcd; NULL: none
 * @param key PEM file with the private key of @p cert, mode 0600; NULL without @p cert
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: @p fleet or @p ca is NULL, or only one of @p cert and @p key is
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_tls(struct dpumap_fleet *fleet, const char *ca,
						    const char *cert, const char *key);

/**
 * Authenticate as a user of etcd.
 *
 * @param fleet a fleet that is not started
 * @param user name of the user
 * @param password_file file that contains the password in its only line, mode 0600; read by
 *         dpumap_fleet_start() and whenever etcd asks for a new login
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_user(struct dpumap_fleet *fleet, const char *user,
						     const char *password_file);

/**
 * Keep a copy of the view in a file. dpumap_fleet_start() reads it if etcd is not reachable, so that
 * a program that starts then goes on with what the last one knew. dpumap_fleet_process() and
 * dpumap_fleet_destroy() replace it when the view has changed. Other users must not be able to
 * change the file.
 *
 * @param fleet a fleet that is not started
 * @param file path of the file
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_cache(struct dpumap_fleet *fleet, const char *file);

/**
 * Follow one DPU and its exports only. The view then has no other records, and dpumap_fleet_start()
 * needs no longer in a fleet of 10,000 DPUs than in one of ten. The copy of the view is the file
 * "FILE.DPU", where FILE is the one of dpumap_fleet_set_cache(); FILE is read too, and the newer of
 * both is used.
 *
 * @param fleet a fleet that is not started
 * @param name name of the DPU, or DPU:EXPORT; the DPU need not exist
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is not valid
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_dpu(struct dpumap_fleet *fleet, const char *name);

/**
 * Set the time-out of the calls that block, and of each request to etcd. The default is 5 seconds.
 *
 * @param fleet a fleet that is not started
 * @param milliseconds time-out in milliseconds, 100 to 600000
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the fleet is NULL, or the time-out is out of range
 * - DOCA_ERROR_BAD_STATE: the fleet is started
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_timeout(struct dpumap_fleet *fleet,
							uint32_t milliseconds);

/**
 * Set the function that receives the lines for the log. Without one, they go to doca_log.
 *
 * @param fleet the fleet, in any state
 * @param log the function; NULL: doca_log
 * @param user_data passed to @p log
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the fleet is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_set_log(struct dpumap_fleet *fleet,
						    dpumap_fleet_log_cb_t log,
						    union doca_data user_data);

/**
 * Read all records of the fleet, or of the DPU of dpumap_fleet_set_dpu(), and follow their changes
 * from now on. If etcd is not reachable and the cache file is valid, the view is that of the file.
 *
 * @param fleet a fleet with an endpoint that is not started
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet has no endpoint, or is started
 * - DOCA_ERROR_BAD_CONFIG: a file has invalid content
 * - DOCA_ERROR_NOT_FOUND: a file does not exist
 * - DOCA_ERROR_NOT_PERMITTED: other users can change a file; or etcd denies the user access to the
 *   records
 * - DOCA_ERROR_AUTHENTICATION: etcd refuses user and password, or TLS fails
 * - DOCA_ERROR_NOT_CONNECTED: no endpoint is reachable, and there is no cache file
 * - DOCA_ERROR_TIME_OUT: etcd does not answer in time or has no quorum, and there is no cache file
 * - DOCA_ERROR_UNEXPECTED: an endpoint does not answer as etcd does
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_start(struct dpumap_fleet *fleet);

/**
 * List the exports of the view, sorted by DPU and name.
 *
 * @param fleet a started fleet
 * @param pattern pattern for DPU:EXPORT as of fnmatch(3), for example "dpu*:bulk"; without a colon
 *         a pattern for the DPU; NULL: all
 * @param labels labels that the export must have: "KEY=VALUE", where VALUE is a pattern, or "KEY"
 *         for any value
 * @param num_labels number of labels
 * @param each called for each export; must not process or destroy the fleet
 * @param user_data passed to @p each
 * @return
 * - DOCA_SUCCESS: also if no export matches
 * - DOCA_ERROR_INVALID_VALUE: @p fleet, @p each or a label is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_list(struct dpumap_fleet *fleet, const char *pattern,
						 const char *const *labels, size_t num_labels,
						 dpumap_fleet_list_cb_t each,
						 union doca_data user_data);

/**
 * List the DPUs of the view, sorted by name.
 *
 * @param fleet a started fleet
 * @param pattern pattern for the name as of fnmatch(3); NULL: all
 * @param each called for each DPU; must not process or destroy the fleet
 * @param user_data passed to @p each
 * @return
 * - DOCA_SUCCESS: also if no DPU matches
 * - DOCA_ERROR_INVALID_VALUE: @p fleet or @p each is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_list_dpus(struct dpumap_fleet *fleet,
						      const char *pattern,
						      dpumap_fleet_dpu_cb_t each,
						      union doca_data user_data);

/**
 * Find an export of the view.
 *
 * @param fleet a started fleet
 * @param name DPU:EXPORT
 * @param export_info out: the export, owned by the fleet; valid until the next call that processes
 *         or destroys the fleet
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is not valid
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 * - DOCA_ERROR_NOT_FOUND: the view has no such export
 * - DOCA_ERROR_UNSUPPORTED_VERSION: its record needs a newer dpumap
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_resolve(struct dpumap_fleet *fleet, const char *name,
						    const struct dpumap_fleet_export **export_info);

/**
 * Find a DPU of the view.
 *
 * @param fleet a started fleet
 * @param name name of the DPU, or DPU:EXPORT
 * @param dpu out: the DPU, owned by the fleet; valid until the next call that processes or destroys
 *         the fleet
 * @return as dpumap_fleet_resolve()
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_resolve_dpu(struct dpumap_fleet *fleet,
							const char *name,
							const struct dpumap_fleet_dpu **dpu);

/**
 * Connect a channel to a DPU by its name: try the addresses of its record in turn, and authenticate
 * the DPU by the name that was asked for. The certificate of the DPU must contain this name, so a
 * record with wrong addresses leads to nothing but a failure.
 *
 * The channel stays connected to the address that answered. When the DPU's record changes, destroy
 * the channel and connect a new one.
 *
 * @param fleet a started fleet
 * @param name name of the DPU, or DPU:EXPORT
 * @param channel a channel that is not connected, with certificates
 *         (dpumap_channel_set_certificate()); address and server name are set by this call
 * @return the results of dpumap_channel_connect() and dpumap_fleet_resolve(), and
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is not valid
 * - DOCA_ERROR_BAD_CONFIG: the channel has a pre-shared key, which does not prove a DPU's name
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_connect(struct dpumap_fleet *fleet, const char *name,
						    struct dpumap_channel *channel);

/**
 * Watch for changes of the view, from now on.
 *
 * @param fleet the fleet, in any state
 * @param heard called for each event; NULL: end the watch
 * @param user_data passed to @p heard
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the fleet is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_watch(struct dpumap_fleet *fleet,
						  dpumap_fleet_watch_cb_t heard,
						  union doca_data user_data);

/**
 * Follow etcd's changes without blocking: report events, renew the login, and try the next endpoint
 * with exponential backoff of up to 10 seconds if one fails. Call this function when the
 * notification handle is readable, and at least as often as dpumap_fleet_get_next_time() requires.
 *
 * @param fleet a started fleet
 * @return
 * - DOCA_SUCCESS: also while etcd is not reachable
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_process(struct dpumap_fleet *fleet);

/**
 * Get the file descriptor to poll for reading. A fleet has one such file descriptor for its whole
 * life.
 *
 * @param fleet the fleet, in any state
 * @param handle out: the file descriptor, owned by the fleet
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_get_notification_handle(
	const struct dpumap_fleet *fleet, doca_notification_handle_t *handle);

/**
 * Get the time after which dpumap_fleet_process() must be called even if the notification handle is
 * not readable.
 *
 * @param fleet the fleet, in any state
 * @param milliseconds out: the time in milliseconds, as a time-out for poll()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_get_next_time(const struct dpumap_fleet *fleet,
							  int *milliseconds);

/**
 * Get the state of the view.
 *
 * @param fleet a started fleet
 * @param status out: the state, owned by the fleet; valid until the next call with the fleet
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_get_status(struct dpumap_fleet *fleet,
						       const struct dpumap_fleet_status **status);

/**
 * Ask each endpoint for its state, and one of them for the members of the cluster. A member without
 * an endpoint of the fleet is reported by its own URL, without being asked.
 *
 * @param fleet a started fleet
 * @param each called for each member and for each endpoint that does not answer; must not process or
 *         destroy the fleet
 * @param user_data passed to @p each
 * @return
 * - DOCA_SUCCESS: also if no endpoint answers, which @p each reports
 * - DOCA_ERROR_INVALID_VALUE: @p fleet or @p each is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_list_members(struct dpumap_fleet *fleet,
							 dpumap_fleet_member_cb_t each,
							 union doca_data user_data);

/**
 * Ask etcd for the remaining time of the lease of each DPU, sorted by name.
 *
 * @param fleet a started fleet
 * @param pattern pattern for the name as of fnmatch(3); NULL: all
 * @param each called for each DPU; must not process or destroy the fleet
 * @param user_data passed to @p each
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: @p fleet or @p each is NULL
 * - DOCA_ERROR_BAD_STATE: the fleet is not started
 * - DOCA_ERROR_NOT_CONNECTED: etcd is not reachable
 * - DOCA_ERROR_TIME_OUT: etcd does not answer in time or has no quorum
 * - DOCA_ERROR_NOT_PERMITTED: etcd does not allow the user to ask for leases
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_EXPERIMENTAL doca_error_t dpumap_fleet_list_leases(struct dpumap_fleet *fleet,
							const char *pattern,
							dpumap_fleet_lease_cb_t each,
							union doca_data user_data);

/**
 * Get a one-line description of the last error.
 *
 * @param fleet the fleet, in any state
 * @return the description, valid until the next call; "" if no call has failed
 */
DOCA_EXPERIMENTAL const char *dpumap_fleet_get_error(const struct dpumap_fleet *fleet);

#ifdef __cplusplus
}
#endif

#endif
