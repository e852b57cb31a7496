/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/metrics.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/asn1.h>

#include "dpu/daemon/daemon.h"
#include "dpu/daemon/traffic.h"

/* An address, not a name that begins like one. */
static bool is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	if (inet_pton(AF_INET6, host, &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return strcmp(host, "localhost") == 0;
}

doca_error_t metrics_parse(const char *where, struct dpumap_address *address,
			   struct dpumap_error *error)
{
	doca_error_t result;
	char text[300];

	snprintf(text, sizeof(text), "%s%s", where[0] == '/' ? "unix:" : "tls:", where);
	result = dpumap_address_parse(text, address, error);
	if (result != DOCA_SUCCESS ||
	    (address->kind == DPUMAP_ADDRESS_TLS && !is_loopback(address->host)))
		return dpumap_error_set(
			error, DOCA_ERROR_INVALID_VALUE,
			"metrics must be an absolute path or a loopback address and port, not %s",
			where);
	return DOCA_SUCCESS;
}

static void put(FILE *out, const char *name, const char *type, const char *help, uint64_t value)
{
	fprintf(out, "# HELP dpumapd_%s %s\n# TYPE dpumapd_%s %s\ndpumapd_%s %" PRIu64 "\n", name,
		help, name, type, name, value);
}

static void put_bytes(FILE *out, const struct export_table *exports)
{
	const struct export_table_totals *totals = export_table_totals(exports);

	fputs("# HELP dpumapd_exports Number of exports.\n# TYPE dpumapd_exports gauge\n", out);
	for (enum export_kind k = 0; k < EXPORT_KINDS; k++)
		fprintf(out, "dpumapd_exports{kind=\"%s\"} %" PRIu64 "\n", export_kind_name(k),
			totals->count[k]);
	put(out, "failed_exports", "gauge",
	    "Exports of the configuration that cannot be made or have ended.",
	    export_table_failed(exports)->num);
	fputs("# HELP dpumapd_exported_bytes Bytes exported.\n"
	      "# TYPE dpumapd_exported_bytes gauge\n",
	      out);
	for (enum export_kind k = 0; k < EXPORT_KINDS; k++)
		fprintf(out, "dpumapd_exported_bytes{kind=\"%s\"} %" PRIu64 "\n",
			export_kind_name(k), totals->bytes[k]);
}

static void put_device_memory(FILE *out, const struct export_table *exports)
{
	struct export_table_dm_usage usage;
	struct dpumap_error ignored;

	if (export_table_dm_usage(exports, &usage, &ignored) != DOCA_SUCCESS || !usage.total)
		return;
	put(out, "device_memory_bytes", "gauge", "Memory on the card.", usage.total);
	put(out, "device_memory_exported_bytes", "gauge",
	    "Memory on the card that dpumapd exports.", usage.exported);
}

/* Only if the device has counters. */
static void put_traffic(FILE *out, const char *device)
{
	struct traffic traffic;

	if (!traffic_read(device, &traffic))
		return;
	put(out, "device_reads_total", "counter", "Read requests of peers that the device served.",
	    traffic.reads);
	put(out, "device_writes_total", "counter",
	    "Write requests of peers that the device served.", traffic.writes);
	put(out, "device_atomics_total", "counter",
	    "Atomic requests of peers that the device served.", traffic.atomics);
	put(out, "device_received_bytes_total", "counter", "Bytes received by the port.",
	    traffic.received_bytes);
	put(out, "device_sent_bytes_total", "counter", "Bytes sent by the port.",
	    traffic.sent_bytes);
	put(out, "device_access_errors_total", "counter",
	    "Requests of peers for memory that they may not access.", traffic.access_errors);
}

static uint64_t seconds_of(const ASN1_TIME *end)
{
	struct tm tm;

	return ASN1_TIME_to_tm(end, &tm) ? (uint64_t)timegm(&tm) : 0;
}

/* Only if there is an end. */
static void maybe_put(FILE *out, const char *name, const char *type, const char *help,
		      const ASN1_TIME *end)
{
	if (end)
		put(out, name, type, help, seconds_of(end));
}

static void put_credentials(FILE *out, const struct dpumap_tls *tls)
{
	struct dpumap_credentials found;

	dpumap_tls_assess(tls, &found);
	maybe_put(out, "certificate_end_seconds", "gauge",
		  "Unix time at which the certificate of dpumapd expires.", found.certificate.end);
	maybe_put(out, "authority_end_seconds", "gauge",
		  "Unix time at which the CA certificate expires.", found.authority.end);
	maybe_put(out, "revocation_list_end_seconds", "gauge",
		  "Unix time at which the revocation list expires.", found.list.end);
}

/* Only if there is a registry. */
static void put_registry(FILE *out, const struct registry *registry)
{
	struct dpumap_publisher_state state;

	if (!registry_get_state(registry, &state))
		return;
	put(out, "registry_published", "gauge",
	    "1 if all records are in the registry and its lease is alive, else 0.",
	    state.phase == DPUMAP_PUBLISHER_PUBLISHED);
	put(out, "registry_records", "gauge", "Records to be published.", state.num_wanted);
	put(out, "registry_records_published", "gauge", "Records in the registry.",
	    state.num_published);
	put(out, "registry_lease_seconds", "gauge", "Remaining time of the lease.",
	    (uint64_t)state.lease_remaining_ms / 1000);
	put(out, "registry_requests_total", "counter", "Requests to the registry.",
	    state.num_requests);
	put(out, "registry_failures_total", "counter", "Failed requests to the registry.",
	    state.num_failures);
	put(out, "registry_transactions_total", "counter", "Changes written to the registry.",
	    state.num_transactions);
	put(out, "registry_leases_lost_total", "counter", "Leases that expired or were revoked.",
	    state.num_leases_lost);
	put(out, "registry_failovers_total", "counter", "Changes to another endpoint.",
	    state.num_failovers);
}

static void put_registry_credentials(FILE *out, const struct dpumap_tls *tls)
{
	struct dpumap_credentials found;

	dpumap_tls_assess(tls, &found);
	maybe_put(out, "registry_certificate_end_seconds", "gauge",
		  "Unix time at which the certificate for etcd expires.", found.certificate.end);
	maybe_put(out, "registry_authority_end_seconds", "gauge",
		  "Unix time at which the CA certificate of etcd expires.", found.authority.end);
}

static void put_all(FILE *out, struct daemon *daemon)
{
	struct server_stats stats;
	struct loop_stats turns;

	server_get_stats(daemon_server(daemon), &stats);
	put_bytes(out, daemon_exports(daemon));
	put_device_memory(out, daemon_exports(daemon));
	put(out, "clients", "gauge", "Clients connected.", stats.clients);
	put(out, "imports", "gauge", "Exports held by clients.", stats.held);
	put(out, "descriptors_outstanding", "gauge",
	    "Valid descriptors that clients got and did not release.",
	    export_table_totals(daemon_exports(daemon))->outstanding);
	put(out, "connections_total", "counter", "Connections accepted.", stats.accepted);
	put(out, "connections_refused_total", "counter", "Connections refused.", stats.refused);
	put(out, "requests_total", "counter", "Requests answered.", stats.requests.answered);
	put(out, "gets_total", "counter", "Descriptors handed out.", stats.requests.gets);
	put(out, "introductions_total", "counter", "Clients introduced to servers of doca_comch.",
	    stats.requests.introductions);
	put(out, "errors_total", "counter", "Requests answered with an error.",
	    stats.requests.errors);
	put(out, "hashed_bytes_total", "counter", "Bytes of exports hashed for clients.",
	    stats.requests.hashed_bytes);
	daemon_get_turns(daemon, &turns);
	put(out, "longest_turn_microseconds", "gauge",
	    "The longest round: every client waited so long.", turns.longest_ns / 1000);
	put_traffic(out, export_table_device_name(daemon_exports(daemon)));
	put_credentials(out, server_tls(daemon_server(daemon)));
	put_registry(out, daemon_registry(daemon));
	put_registry_credentials(out, daemon_registry_tls(daemon));
}

enum text_outcome metrics_answer(void *daemon, const char *request, int fd,
				 struct text_progress *progress, FILE *answer)
{
	bool is_head;
	unsigned int status = http_status(request, "/metrics", &is_head);
	char *body = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&body, &len);

	(void)fd, (void)progress;
	if (!out)
		return TEXT_DONE;
	if (status == 200)
		put_all(out, daemon);
	if (fclose(out) == 0)
		http_reply(answer, status, body, is_head);
	free(body);
	return TEXT_DONE;
}
