/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_types.h>
#include <dpumap/desc.h>

#include "base/clock.h"
#include "doctor/check_context.h"

#define PINGS 16

static bool is_tls(const struct check_context *context)
{
	return context->connection.address.kind == DPUMAP_ADDRESS_TLS;
}

void doctor_connection_failed(struct check_context *context, const char *id)
{
	snprintf(context->connection.why, sizeof(context->connection.why), "%s", id);
}

bool doctor_connection_continues(const struct check_context *context, struct finding *finding)
{
	if (context->connection.why[0])
		doctor_skip(finding, context->connection.why);
	return !context->connection.why[0];
}

unsigned int doctor_connection_timeout_ms(const struct check_context *context)
{
	unsigned int s = context->options->timeout_s;

	return (s ? s : DPUMAP_DOCTOR_TIMEOUT_S) * 1000;
}

/* --- address ---------------------------------------------------------------------------------- */

static doca_error_t resolve(const struct dpumap_address *address, struct addrinfo **list,
			    struct dpumap_error *error)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	int err = getaddrinfo(address->host, address->port, &hints, list);

	if (err)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "cannot resolve %s: %s",
					address->host, gai_strerror(err));
	return DOCA_SUCCESS;
}

static void add_addresses(struct finding *finding, const struct addrinfo *list)
{
	struct json_object *addresses = json_object_new_array();
	char text[INET6_ADDRSTRLEN + 32];

	for (; list; list = list->ai_next)
		if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof(text), NULL, 0,
				NI_NUMERICHOST) == 0)
			json_object_array_add(addresses, json_object_new_string(text));
	doctor_fact_object(finding, "addresses", addresses);
}

static void check_address(struct check_context *context, struct finding *finding)
{
	const struct dpumap_doctor_options *options = context->options;
	struct dpumap_error error = {0};
	struct addrinfo *list = NULL;
	doca_error_t result;

	if (!options->connect) {
		doctor_report(finding, DOCTOR_UNKNOWN, "no address of dpumapd given");
		doctor_advise(finding,
			      "use --connect ADDRESS, or set connect in the configuration");
		doctor_connection_failed(context, "link.address");
		return;
	}
	result = dpumap_address_parse(options->connect, &context->connection.address, &error);
	if (result == DOCA_SUCCESS && is_tls(context))
		result = resolve(&context->connection.address, &list, &error);
	if (result != DOCA_SUCCESS) {
		doctor_fail(finding, dpumap_error_exit(result), "%s", error.text);
		doctor_advise(finding, "check the name (getent hosts NAME), or use an IP address");
		doctor_connection_failed(context, "link.address");
		return;
	}
	doctor_fact(finding, "address", options->connect);
	doctor_report(finding, DOCTOR_OK, "%s%s", options->connect,
		      options->connect_is_default ? ", the default address" : "");
	if (list) {
		add_addresses(finding, list);
		freeaddrinfo(list);
	}
}

/* --- connecting ------------------------------------------------------------------------------- */

static int await_connection(int fd, unsigned int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int err = 0;

	if (poll(&p, 1, (int)timeout_ms) <= 0)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 ? err : errno;
}

static int try_connect(const struct sockaddr *address, socklen_t len, unsigned int timeout_ms,
		       int *fd)
{
	int f = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = 0;

	if (f < 0)
		return errno;
	if (connect(f, address, len) != 0)
		err = errno == EINPROGRESS ? await_connection(f, timeout_ms) : errno;
	if (err)
		close(f);
	else
		*fd = f;
	return err;
}

static int connect_to_dpumapd(const struct check_context *context, int *fd)
{
	const struct dpumap_address *address = &context->connection.address;
	unsigned int timeout_ms = doctor_connection_timeout_ms(context);
	struct dpumap_error error = {0};
	struct addrinfo *list = NULL;
	int err = ENOENT;

	if (!is_tls(context))
		return try_connect((const struct sockaddr *)&address->path, sizeof(address->path),
				   timeout_ms, fd);
	if (resolve(address, &list, &error) != DOCA_SUCCESS)
		return EHOSTUNREACH;
	for (const struct addrinfo *at = list; at && err; at = at->ai_next)
		err = try_connect(at->ai_addr, at->ai_addrlen, timeout_ms, fd);
	freeaddrinfo(list);
	return err;
}

static void advise_to_connect(const struct check_context *context, struct finding *finding, int err)
{
	if (err == EACCES || err == EPERM)
		doctor_advise(finding, "run as root or as a user that dpumapd accepts, or use TLS");
	else if (!is_tls(context))
		doctor_advise(
			finding,
			"start dpumapd, or use --connect with the address that it listens on");
	else if (err == ECONNREFUSED)
		doctor_advise(finding, "start dpumapd (systemctl status dpumapd), and compare the "
				       "port with its listen setting");
	else
		doctor_advise(finding, "check that the DPU is up and reachable (ping), and that no "
				       "firewall blocks the port");
}

static void check_connect(struct check_context *context, struct finding *finding)
{
	bool is_optional = context->options->connect_is_default;
	int fd = -1, err;

	if (!doctor_connection_continues(context, finding))
		return;
	err = connect_to_dpumapd(context, &fd);
	if (!err) {
		context->connection.fd = fd + 1;
		doctor_report(finding, DOCTOR_OK, "a server is listening");
		return;
	}
	doctor_connection_failed(context, "link.connect");
	if (is_optional && (err == ENOENT || err == ECONNREFUSED)) {
		doctor_report(finding, DOCTOR_UNKNOWN, "no dpumapd listens at %s",
			      context->options->connect);
		doctor_advise(finding, "%s",
			      context->options->side == DPUMAP_DOCTOR_DPU
				      ? "start dpumapd if it is needed"
				      : "to check the DPU too, use --connect ADDRESS or set "
					"connect in the configuration");
		return;
	}
	doctor_fail(finding,
		    err == EACCES || err == EPERM ? DPUMAP_EXIT_REFUSED : DPUMAP_EXIT_NOT_FOUND,
		    "cannot connect to %s: %s", context->options->connect, strerror(err));
	advise_to_connect(context, finding, err);
}

/* --- requests --------------------------------------------------------------------------------- */

void doctor_connection_hello(struct check_context *context)
{
	const struct dpumap_doctor_options *options = context->options;
	struct connection *line = &context->connection;

	if (line->has_hello)
		return;
	line->has_hello = true;
	dpumap_client_create(&line->address, line->tls, options->server,
			     doctor_connection_timeout_ms(context), options->stop, &line->client,
			     &line->hello_error);
}

static void check_version(struct check_context *context, struct finding *finding)
{
	const struct dpumap_error *error = &context->connection.hello_error;

	if (!doctor_connection_continues(context, finding))
		return;
	doctor_connection_hello(context);
	if (context->connection.client) {
		uint32_t version = dpumap_client_version(context->connection.client);

		doctor_fact_number(finding, "channel", version);
		doctor_report(finding, DOCTOR_OK,
			      "host and DPU use version %u of the channel protocol", version);
		return;
	}
	doctor_connection_failed(context, "link.version");
	doctor_fail(finding, dpumap_error_exit(error->code), "%s", error->text);
	if (error->code == DOCA_ERROR_UNSUPPORTED_VERSION)
		doctor_advise(finding, "install the same release of dpumap on host and DPU");
	else
		doctor_advise(finding, "check that the server is dpumapd, and its log");
}

static doca_error_t ask(struct check_context *context, enum dpumap_op op, enum dpumap_msg_key key,
			const char *text, struct dpumap_msg *reply, struct dpumap_error *error)
{
	struct dpumap_msg request;

	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(op));
	if (text)
		dpumap_msg_set_text(&request, key, text);
	return dpumap_client_call(context->connection.client, &request, reply, error);
}

static void fail_connection(struct check_context *context, struct finding *finding, const char *id,
			    const struct dpumap_error *error)
{
	doctor_connection_failed(context, id);
	doctor_fail(finding, dpumap_error_exit(error->code), "%s", error->text);
	doctor_advise(finding, "check dpumapd's log (journalctl -u dpumapd)");
}

#define PCI_ACCESS (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* Keeps the names, and that of one export, preferably over PCI: its descriptor has the card. */
static void note_exports(struct connection *line, const struct dpumap_msg *reply,
			 struct json_object *names)
{
	for (uint32_t i = 0; i < reply->num_exports; i++) {
		const struct dpumap_export_info *info = &reply->exports[i];

		json_object_array_add(names, json_object_new_string(info->name));
		if (line->export_name[0] && (line->is_pci || !(info->access & PCI_ACCESS)))
			continue;
		memcpy(line->export_name, info->name, sizeof(line->export_name));
		line->is_pci = info->access & PCI_ACCESS;
	}
}

static doca_error_t list_exports(struct check_context *context, struct json_object *names,
				 struct dpumap_error *error)
{
	char after[DPUMAP_EXPORT_NAME_MAX] = "", next[DPUMAP_EXPORT_NAME_MAX];
	struct dpumap_msg reply = {0};
	doca_error_t result;
	bool more = true;

	while (more) {
		result = ask(context, DPUMAP_OP_LIST, DPUMAP_MSG_AFTER, after, &reply, error);
		if (result != DOCA_SUCCESS)
			return result;
		note_exports(&context->connection, &reply, names);
		dpumap_msg_get_text(&reply, DPUMAP_MSG_NEXT, next, sizeof(next));
		/* Refuse a server that makes no progress: the loop would not end. */
		more = dpumap_msg_has(&reply, DPUMAP_MSG_NEXT) && strcmp(next, after) > 0;
		memcpy(after, next, sizeof(after));
	}
	return DOCA_SUCCESS;
}

static void check_exports(struct check_context *context, struct finding *finding)
{
	struct json_object *names = json_object_new_array();
	struct dpumap_error error = {0};

	doctor_fact_object(finding, "names", names);
	if (!doctor_connection_continues(context, finding))
		return;
	if (list_exports(context, names, &error) != DOCA_SUCCESS) {
		fail_connection(context, finding, "link.exports", &error);
		return;
	}
	if (json_object_array_length(names)) {
		doctor_report(finding, DOCTOR_OK, "%zu exports may be imported, such as %s",
			      json_object_array_length(names), context->connection.export_name);
		return;
	}
	doctor_report(finding, DOCTOR_WARN, "no export may be imported");
	doctor_advise(
		finding,
		"add an export to dpumapd, and this client to its allow list (dpumapd.conf(5))");
}

/* --- same card -------------------------------------------------------------------------------- */

/* Parses "506b:4b03:00ab:cdef", the format of sysfs. */
static uint64_t parse_guid(const char *text)
{
	uint64_t guid = 0;

	for (; *text; text++) {
		char digit[2] = {*text, '\0'};

		if (*text != ':')
			guid = guid << 4 | strtoull(digit, NULL, 16);
	}
	return guid;
}

static const char *find_card(const struct check_context *context, uint64_t guid)
{
	struct json_object *list = doctor_found_fact(context->findings, "device.list", "devices");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *device = json_object_array_get_idx(list, i);
		const char *text = doctor_json_text(device, "sys_image_guid");

		if (text[0] && parse_guid(text) == guid)
			return doctor_json_text(device, "name");
	}
	return NULL;
}

/* Reads the card from the descriptor of an export, which is wiped and released at once. */
static doca_error_t get_card(struct check_context *context, uint16_t *kind, uint64_t *guid,
			     struct dpumap_error *error)
{
	const char *name = context->connection.export_name;
	struct dpumap_msg reply = {0};
	struct dpumap_desc desc = {0};
	doca_error_t result;

	result = ask(context, DPUMAP_OP_GET, DPUMAP_MSG_NAME, name, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DESCRIPTOR) ||
	    dpumap_desc_decode(reply.value[DPUMAP_MSG_DESCRIPTOR].data,
			       reply.value[DPUMAP_MSG_DESCRIPTOR].len, &desc) != DPUMAP_DESC_OK)
		result = dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					  "the descriptor of %s is invalid", name);
	*kind = desc.kind;
	*guid = desc.device_guid;
	dpumap_desc_wipe(&desc);
	if (ask(context, DPUMAP_OP_RELEASE, DPUMAP_MSG_NAME, name, &reply, error) != DOCA_SUCCESS)
		result = error->code;
	return result;
}

static void assess_card(struct check_context *context, struct finding *finding, uint64_t guid)
{
	const char *chosen = "", *name = find_card(context, guid);
	struct json_object *value = doctor_found_fact(context->findings, "device.chosen", "name");
	char text[32];

	if (value)
		chosen = json_object_get_string(value);
	snprintf(text, sizeof(text), "%016" PRIx64, guid);
	doctor_fact(finding, "peer_guid", text);
	doctor_fact_bool(finding, "same", name != NULL);
	if (!name) {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED,
			    "dpumapd exports memory of card %s, and no device here is a function "
			    "of that card",
			    text);
		doctor_advise(finding, "connect to the DPU of a card in this machine; for another "
				       "machine, export with via = \"rdma\"");
		return;
	}
	doctor_fact(finding, "device", name);
	if (strcmp(name, chosen) == 0) {
		context->connection.can_import = true;
		doctor_report(finding, DOCTOR_OK, "dpumapd's card is that of %s", name);
	} else {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED,
			    "dpumapd's card %s has the device %s, not %s", text, name, chosen);
		doctor_advise(finding, "use --device %s, or set device in the configuration", name);
	}
}

static void check_card(struct check_context *context, struct finding *finding)
{
	struct dpumap_error error = {0};
	uint64_t guid = 0;
	uint16_t kind = 0;

	if (!doctor_connection_continues(context, finding))
		return;
	if (!context->connection.export_name[0]) {
		doctor_skip(finding, "link.exports");
		return;
	}
	if (get_card(context, &kind, &guid, &error) != DOCA_SUCCESS) {
		doctor_report(finding, DOCTOR_UNKNOWN, "%s", error.text);
		doctor_advise(finding, "check dpumapd's log (journalctl -u dpumapd)");
	} else if (kind != DPUMAP_DESC_KIND_PCI) {
		context->connection.is_pci = false;
		doctor_report(finding, DOCTOR_OK,
			      "%s is exported over RDMA, which works with any card",
			      context->connection.export_name);
	} else {
		assess_card(context, finding, guid);
	}
}

/* --- a real import ---------------------------------------------------------------------------- */

static doca_error_t import_bytes(struct check_context *context, const uint8_t *bytes, size_t len)
{
	struct doca_mmap *map = NULL;
	struct doca_dev *dev = NULL;
	doca_error_t result, undone;

	doctor_capture_library_log(context);
	doctor_device_list(&context->device);
	doctor_device_choose(&context->device, context->options);
	if (!context->device.info)
		return DOCA_ERROR_NOT_FOUND;
	result = doca_dev_open(context->device.info, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_create_from_export(NULL, bytes, len, dev, &map);
	undone = map ? doca_mmap_destroy(map) : DOCA_SUCCESS;
	if (result == DOCA_SUCCESS)
		result = undone;
	undone = doca_dev_close(dev);
	return result == DOCA_SUCCESS ? undone : result;
}

/* The descriptor is released in any case, as it was for link.card. */
static void try_import(struct check_context *context, struct finding *finding)
{
	const char *name = context->connection.export_name;
	struct dpumap_error error = {0};
	struct dpumap_msg reply = {0};
	doca_error_t result;

	result = ask(context, DPUMAP_OP_GET, DPUMAP_MSG_NAME, name, &reply, &error);
	if (result != DOCA_SUCCESS) {
		fail_connection(context, finding, "link.import", &error);
		return;
	}
	result = import_bytes(context, reply.value[DPUMAP_MSG_DESCRIPTOR].data,
			      reply.value[DPUMAP_MSG_DESCRIPTOR].len);
	if (result == DOCA_SUCCESS)
		doctor_report(finding, DOCTOR_OK, "imported %s and released it", name);
	else
		doctor_fail_doca(context, finding, result, "cannot import an export of dpumapd");
	if (ask(context, DPUMAP_OP_RELEASE, DPUMAP_MSG_NAME, name, &reply, &error) == DOCA_SUCCESS)
		return;
	if (result == DOCA_SUCCESS)
		fail_connection(context, finding, "link.import", &error);
}

static void check_import(struct check_context *context, struct finding *finding)
{
	if (!doctor_connection_continues(context, finding))
		return;
	if (!context->connection.export_name[0]) {
		doctor_skip(finding, "link.exports");
	} else if (context->options->side == DPUMAP_DOCTOR_DPU || !context->connection.is_pci) {
		doctor_report(finding, DOCTOR_UNKNOWN, "%s",
			      context->connection.is_pci ? "not tried: hosts import"
							 : "not tried over RDMA");
		doctor_advise(finding, "%s",
			      context->connection.is_pci
				      ? "run dpumap doctor on the host"
				      : "import the export with dpumap import NAME");
	} else if (!context->connection.can_import) {
		doctor_skip(finding, "link.card");
	} else {
		try_import(context, finding);
	}
}

static void check_round_trip(struct check_context *context, struct finding *finding)
{
	struct dpumap_error error = {0};
	struct dpumap_msg reply = {0};
	uint64_t best = UINT64_MAX;

	if (!doctor_connection_continues(context, finding))
		return;
	for (int i = 0; i < PINGS; i++) {
		uint64_t began = monotonic_ns(), ns;

		if (ask(context, DPUMAP_OP_PING, DPUMAP_MSG_NAME, NULL, &reply, &error) !=
		    DOCA_SUCCESS) {
			fail_connection(context, finding, "link.round-trip", &error);
			return;
		}
		ns = monotonic_ns() - began;
		best = ns < best ? ns : best;
	}
	doctor_fact_number(finding, "ns", best);
	doctor_report(finding, DOCTOR_OK, "%.0f us per request (minimum of %d)",
		      (double)best / 1000., PINGS);
}

static void end(struct check_context *context)
{
	dpumap_client_destroy(context->connection.client);
	doctor_connection_close_tls(context);
	if (context->connection.fd)
		close(context->connection.fd - 1);
	doctor_device_close(&context->device);
}

static const struct check checks[] = {
	{"link.address", "Address of dpumapd", check_address},
	{"link.files", "TLS files", doctor_link_files},
	{"link.certificate", "Certificate", doctor_link_certificate},
	{"link.crl", "Revocation list", doctor_link_crl},
	{"link.registry", "TLS files for etcd", doctor_link_registry},
	{"link.connect", "Connection", check_connect},
	{"link.tls", "TLS", doctor_link_tls},
	{"link.identity", "Identity at dpumapd", doctor_link_identity},
	{"link.version", "Channel protocol version", check_version},
	{"link.exports", "Exports that may be imported", check_exports},
	{"link.card", "Same card as dpumapd", check_card},
	{"link.import", "Import from dpumapd", check_import},
	{"link.round-trip", "Round trip", check_round_trip},
	{0},
};

const struct group doctor_group_link = {
	.title = "Connection to dpumapd", .checks = checks, .end = end};
