/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The way to dpumapd, step by step. The first step that fails ends it. */
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

#include "common/clock.h"
#include "doctor/group_link.h"
#include "doctor/patient.h"

#define PINGS 16

static bool is_tls(const struct patient *patient)
{
	return patient->line.address.kind == DPUMAP_ADDRESS_TLS;
}

void doctor_line_ends(struct patient *patient, const char *id)
{
	snprintf(patient->line.why, sizeof(patient->line.why), "%s", id);
}

bool doctor_line_goes_on(const struct patient *patient, struct finding *finding)
{
	if (patient->line.why[0])
		doctor_follows(finding, patient->line.why);
	return !patient->line.why[0];
}

unsigned int doctor_line_timeout_ms(const struct patient *patient)
{
	unsigned int s = patient->options->timeout_s;

	return (s ? s : DPUMAP_DOCTOR_TIMEOUT_S) * 1000;
}

/* -- where it is -- */

static doca_error_t resolve(const struct dpumap_address *address, struct addrinfo **list,
			    struct dpumap_fault *fault)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	int err = getaddrinfo(address->host, address->port, &hints, list);

	if (err)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND, "no address of %s: %s",
					address->host, gai_strerror(err));
	return DOCA_SUCCESS;
}

static void tell_addresses(struct finding *finding, const struct addrinfo *list)
{
	struct json_object *addresses = json_object_new_array();
	char text[INET6_ADDRSTRLEN + 32];

	for (; list; list = list->ai_next)
		if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof(text), NULL, 0,
				NI_NUMERICHOST) == 0)
			json_object_array_add(addresses, json_object_new_string(text));
	doctor_fact_object(finding, "addresses", addresses);
}

static void check_address(struct patient *patient, struct finding *finding)
{
	const struct dpumap_doctor_options *options = patient->options;
	struct dpumap_fault fault = {0};
	struct addrinfo *list = NULL;
	doca_error_t result;

	if (!options->connect) {
		doctor_say(finding, DOCTOR_UNKNOWN, "nobody said where dpumapd is");
		doctor_advise(finding, "--connect ADDRESS, or connect in the configuration");
		doctor_line_ends(patient, "link.address");
		return;
	}
	result = dpumap_address_parse(options->connect, &patient->line.address, &fault);
	if (result == DOCA_SUCCESS && is_tls(patient))
		result = resolve(&patient->line.address, &list, &fault);
	if (result != DOCA_SUCCESS) {
		doctor_fail(finding, dpumap_fault_exit(result), "%s", fault.text);
		doctor_advise(finding, "is the name right, and does this machine know it (getent "
				       "hosts NAME)? an address will do too");
		doctor_line_ends(patient, "link.address");
		return;
	}
	doctor_fact(finding, "address", options->connect);
	doctor_say(finding, DOCTOR_OK, "%s%s", options->connect,
		   options->connect_is_default ? ", where dpumapd usually is" : "");
	if (list) {
		tell_addresses(finding, list);
		freeaddrinfo(list);
	}
}

/* -- connecting -- */

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

static int connect_line(const struct patient *patient, int *fd)
{
	const struct dpumap_address *address = &patient->line.address;
	unsigned int timeout_ms = doctor_line_timeout_ms(patient);
	struct dpumap_fault fault = {0};
	struct addrinfo *list = NULL;
	int err = ENOENT;

	if (!is_tls(patient))
		return try_connect((const struct sockaddr *)&address->path, sizeof(address->path),
				   timeout_ms, fd);
	if (resolve(address, &list, &fault) != DOCA_SUCCESS)
		return EHOSTUNREACH;
	for (const struct addrinfo *at = list; at && err; at = at->ai_next)
		err = try_connect(at->ai_addr, at->ai_addrlen, timeout_ms, fd);
	freeaddrinfo(list);
	return err;
}

static void advise_to_connect(const struct patient *patient, struct finding *finding, int err)
{
	if (err == EACCES || err == EPERM)
		doctor_advise(finding, "run as the user that dpumapd lets in, or root; or use TLS");
	else if (!is_tls(patient))
		doctor_advise(finding, "start dpumapd, or say with --connect where it listens");
	else if (err == ECONNREFUSED)
		doctor_advise(finding, "nothing listens there: start dpumapd (systemctl status "
				       "dpumapd), and compare its listen with the port");
	else
		doctor_advise(finding,
			      "is the DPU up and reachable (ping), and does a firewall let "
			      "the port through?");
}

static void check_connect(struct patient *patient, struct finding *finding)
{
	bool is_optional = patient->options->connect_is_default;
	int fd = -1, err;

	if (!doctor_line_goes_on(patient, finding))
		return;
	err = connect_line(patient, &fd);
	if (!err) {
		patient->line.fd = fd + 1;
		doctor_say(finding, DOCTOR_OK, "somebody listens there");
		return;
	}
	doctor_line_ends(patient, "link.connect");
	if (is_optional && (err == ENOENT || err == ECONNREFUSED)) {
		doctor_say(finding, DOCTOR_UNKNOWN,
			   "no dpumapd was named, and none is in its usual "
			   "place");
		doctor_advise(finding, "%s",
			      patient->options->side == DPUMAP_DOCTOR_DPU
				      ? "start dpumapd, if it is to serve"
				      : "--connect ADDRESS, or connect in the configuration, to "
					"look at the other side too");
		return;
	}
	doctor_fail(finding,
		    err == EACCES || err == EPERM ? DPUMAP_EXIT_REFUSED : DPUMAP_EXIT_NOT_FOUND,
		    "cannot connect to %s: %s", patient->options->connect, strerror(err));
	advise_to_connect(patient, finding, err);
}

/* -- what it says -- */

void doctor_line_greet(struct patient *patient)
{
	const struct dpumap_doctor_options *options = patient->options;
	struct line *line = &patient->line;

	if (line->has_greeted)
		return;
	line->has_greeted = true;
	dpumap_client_create(&line->address, line->tls, options->server,
			     doctor_line_timeout_ms(patient), options->stop, &line->client,
			     &line->greeting);
}

static void check_version(struct patient *patient, struct finding *finding)
{
	const struct dpumap_fault *fault = &patient->line.greeting;

	if (!doctor_line_goes_on(patient, finding))
		return;
	doctor_line_greet(patient);
	doctor_fact_number(finding, "channel", DPUMAP_CHANNEL_VERSION);
	if (patient->line.client) {
		doctor_say(finding, DOCTOR_OK, "both sides speak version %u of the channel",
			   DPUMAP_CHANNEL_VERSION);
		return;
	}
	doctor_line_ends(patient, "link.version");
	doctor_fail(finding, dpumap_fault_exit(fault->code), "%s", fault->text);
	if (fault->code == DOCA_ERROR_UNSUPPORTED_VERSION)
		doctor_advise(finding, "install the same release of dpumap on both sides");
	else
		doctor_advise(finding, "is it dpumapd that listens there? its log says more");
}

static doca_error_t ask(struct patient *patient, enum dpumap_op op, enum dpumap_msg_key key,
			const char *text, struct dpumap_msg *reply, struct dpumap_fault *fault)
{
	struct dpumap_msg request;

	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(op));
	if (text)
		dpumap_msg_set_text(&request, key, text);
	return dpumap_client_call(patient->line.client, &request, reply, fault);
}

static void fail_line(struct patient *patient, struct finding *finding, const char *id,
		      const struct dpumap_fault *fault)
{
	doctor_line_ends(patient, id);
	doctor_fail(finding, dpumap_fault_exit(fault->code), "%s", fault->text);
	doctor_advise(finding, "dpumapd's log says more (journalctl -u dpumapd)");
}

#define PCI_ACCESS (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* Keeps the names, and one of an export that tells the card, if there is any. */
static void note_exports(struct line *line, const struct dpumap_msg *reply,
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

static doca_error_t list_exports(struct patient *patient, struct json_object *names,
				 struct dpumap_fault *fault)
{
	char after[DPUMAP_EXPORT_NAME_MAX] = "", next[DPUMAP_EXPORT_NAME_MAX];
	struct dpumap_msg reply = {0};
	doca_error_t result;
	bool more = true;

	while (more) {
		result = ask(patient, DPUMAP_OP_LIST, DPUMAP_MSG_AFTER, after, &reply, fault);
		if (result != DOCA_SUCCESS)
			return result;
		note_exports(&patient->line, &reply, names);
		dpumap_msg_get_text(&reply, DPUMAP_MSG_NEXT, next, sizeof(next));
		/* A server that does not get ahead would keep us for ever. */
		more = dpumap_msg_has(&reply, DPUMAP_MSG_NEXT) && strcmp(next, after) > 0;
		memcpy(after, next, sizeof(after));
	}
	return DOCA_SUCCESS;
}

static void check_exports(struct patient *patient, struct finding *finding)
{
	struct json_object *names = json_object_new_array();
	struct dpumap_fault fault = {0};

	doctor_fact_object(finding, "names", names);
	if (!doctor_line_goes_on(patient, finding))
		return;
	if (list_exports(patient, names, &fault) != DOCA_SUCCESS) {
		fail_line(patient, finding, "link.exports", &fault);
		return;
	}
	if (json_object_array_length(names)) {
		doctor_say(finding, DOCTOR_OK, "%zu may be imported by us, one is %s",
			   json_object_array_length(names), patient->line.export_name);
		return;
	}
	doctor_say(finding, DOCTOR_WARN, "none may be imported by us");
	doctor_advise(finding, "let dpumapd export something, and allow us to import it "
			       "(dpumapd.conf(5), allow)");
}

/* -- one card? -- */

/* "506b:4b03:00ab:cdef", as sysfs has it. */
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

static const char *find_card(const struct patient *patient, uint64_t guid)
{
	struct json_object *list = doctor_found_fact(patient->findings, "device.list", "devices");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *device = json_object_array_get_idx(list, i);
		const char *text = doctor_json_text(device, "sys_image_guid");

		if (text[0] && parse_guid(text) == guid)
			return doctor_json_text(device, "name");
	}
	return NULL;
}

/* The descriptor of an export tells the card; it is given back at once, and its key is nobody's. */
static doca_error_t get_card(struct patient *patient, uint16_t *kind, uint64_t *guid,
			     struct dpumap_fault *fault)
{
	const char *name = patient->line.export_name;
	struct dpumap_msg reply = {0};
	struct dpumap_desc desc = {0};
	doca_error_t result;

	result = ask(patient, DPUMAP_OP_GET, DPUMAP_MSG_NAME, name, &reply, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DESCRIPTOR) ||
	    dpumap_desc_decode(reply.value[DPUMAP_MSG_DESCRIPTOR].data,
			       reply.value[DPUMAP_MSG_DESCRIPTOR].len, &desc) != DPUMAP_DESC_OK)
		result = dpumap_fault_set(fault, DOCA_ERROR_UNEXPECTED,
					  "the descriptor of %s cannot be read", name);
	*kind = desc.kind;
	*guid = desc.device_guid;
	dpumap_desc_wipe(&desc);
	if (ask(patient, DPUMAP_OP_RELEASE, DPUMAP_MSG_NAME, name, &reply, fault) != DOCA_SUCCESS)
		result = fault->code;
	return result;
}

static void judge_card(const struct patient *patient, struct finding *finding, uint64_t guid)
{
	const char *chosen = "", *name = find_card(patient, guid);
	struct json_object *value = doctor_found_fact(patient->findings, "device.chosen", "name");
	char text[32];

	if (value)
		chosen = json_object_get_string(value);
	snprintf(text, sizeof(text), "%016" PRIx64, guid);
	doctor_fact(finding, "peer_guid", text);
	doctor_fact_bool(finding, "same", name != NULL);
	if (!name) {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED,
			    "dpumapd exports memory of card %s, and none of our devices is of it",
			    text);
		doctor_advise(finding, "connect to the DPU of a card of this machine; to another "
				       "machine, let it export with via = \"rdma\"");
		return;
	}
	doctor_fact(finding, "device", name);
	if (strcmp(name, chosen) == 0) {
		doctor_say(finding, DOCTOR_OK, "dpumapd's card is that of %s", name);
	} else {
		doctor_fail(finding, DPUMAP_EXIT_REFUSED,
			    "dpumapd's card %s is that of %s, not of %s", text, name, chosen);
		doctor_advise(finding, "--device %s, or device in the configuration", name);
	}
}

static void check_card(struct patient *patient, struct finding *finding)
{
	struct dpumap_fault fault = {0};
	uint64_t guid = 0;
	uint16_t kind = 0;

	if (!doctor_line_goes_on(patient, finding))
		return;
	if (!patient->line.export_name[0]) {
		doctor_follows(finding, "link.exports");
		return;
	}
	if (get_card(patient, &kind, &guid, &fault) != DOCA_SUCCESS) {
		doctor_say(finding, DOCTOR_UNKNOWN, "%s", fault.text);
		doctor_advise(finding, "dpumapd's log says more (journalctl -u dpumapd)");
	} else if (kind != DPUMAP_DESC_KIND_PCI) {
		doctor_say(finding, DOCTOR_OK, "%s is reached over RDMA, from any card",
			   patient->line.export_name);
	} else {
		judge_card(patient, finding, guid);
	}
}

static void check_round_trip(struct patient *patient, struct finding *finding)
{
	struct dpumap_fault fault = {0};
	struct dpumap_msg reply = {0};
	uint64_t best = UINT64_MAX;

	if (!doctor_line_goes_on(patient, finding))
		return;
	for (int i = 0; i < PINGS; i++) {
		uint64_t began = dpumap_clock_ns(), ns;

		if (ask(patient, DPUMAP_OP_PING, DPUMAP_MSG_NAME, NULL, &reply, &fault) !=
		    DOCA_SUCCESS) {
			fail_line(patient, finding, "link.round-trip", &fault);
			return;
		}
		ns = dpumap_clock_ns() - began;
		best = ns < best ? ns : best;
	}
	doctor_fact_number(finding, "ns", best);
	doctor_say(finding, DOCTOR_OK, "%.0f us for a request, the best of %d",
		   (double)best / 1000., PINGS);
}

static void end(struct patient *patient)
{
	dpumap_client_destroy(patient->line.client);
	doctor_line_end_tls(patient);
	if (patient->line.fd)
		close(patient->line.fd - 1);
}

static const struct check checks[] = {
	{"link.address", "Where dpumapd is", check_address},
	{"link.files", "Files for TLS", doctor_link_files},
	{"link.certificate", "Our certificate", doctor_link_certificate},
	{"link.crl", "Revocation list", doctor_link_crl},
	{"link.connect", "Connecting", check_connect},
	{"link.tls", "TLS", doctor_link_tls},
	{"link.identity", "Who dpumapd takes us for", doctor_link_identity},
	{"link.version", "Version of the channel", check_version},
	{"link.exports", "Exports for us", check_exports},
	{"link.card", "One card on both sides", check_card},
	{"link.round-trip", "Round trip", check_round_trip},
	{0},
};

const struct group doctor_group_link = {.title = "Link to dpumapd", .checks = checks, .end = end};
