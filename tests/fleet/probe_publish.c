/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A DPU that publishes. Commands: set ADDRESS GENERATION EXPORT..., where EXPORT is
 * NAME,SIZE,GENERATION[,LABEL...]; many NUMBER; state; close WAIT_MS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/table.h"
#include "probe.h"

#define EXPORTS_MAX 4096
#define LABELS_MAX  16

extern const struct dpumap_fleet_table dpumap_private_fleet;
static const struct dpumap_fleet_table *const table = &dpumap_private_fleet;

struct publish {
	struct dpumap_publisher *publisher;
	const char *dpu;
	struct dpumap_fleet_export exports[EXPORTS_MAX];
	char *labels[EXPORTS_MAX][LABELS_MAX];
	char names[EXPORTS_MAX][32];
};

static void print_fault(const char *event, doca_error_t result, const char *text)
{
	struct json_object *json = json_object_new_object();

	probe_add(json, "result", doca_error_get_name(result));
	probe_add(json, "error", result == DOCA_SUCCESS ? "" : text);
	probe_print(event, json);
}

static void print_state(const struct publish *p)
{
	struct json_object *json = json_object_new_object();
	struct dpumap_publisher_state s;

	table->publisher_get_state(p->publisher, &s);
	probe_add(json, "phase", s.phase_name);
	probe_add(json, "problem", s.problem);
	probe_add(json, "endpoint", s.endpoint);
	probe_add_number(json, "lease", s.lease);
	probe_add_number(json, "remaining_ms", s.lease_remaining_ms);
	probe_add_number(json, "wanted", (long long)s.num_wanted);
	probe_add_number(json, "published", (long long)s.num_published);
	probe_add_number(json, "requests", (long long)s.num_requests);
	probe_add_number(json, "transactions", (long long)s.num_transactions);
	probe_add_number(json, "leases_lost", (long long)s.num_leases_lost);
	probe_print("state", json);
}

static void logged(void *context, const char *line)
{
	struct json_object *json = json_object_new_object();

	(void)context;
	probe_add(json, "line", line);
	probe_print("log", json);
}

static struct dpumap_fleet_export make_export(const char *name, uint64_t size, uint64_t generation)
{
	return (struct dpumap_fleet_export){.name = name,
					    .kind = "dram",
					    .via = "pci",
					    .size = size,
					    .access = DOCA_ACCESS_FLAG_PCI_READ_WRITE,
					    .generation = generation};
}

static void parse_export(struct publish *p, size_t index, char *text)
{
	struct dpumap_fleet_export *e = &p->exports[index];
	char *rest = text, *name, *size, *generation, *label;

	name = strtok_r(rest, ",", &rest);
	size = strtok_r(rest, ",", &rest);
	generation = strtok_r(rest, ",", &rest);
	*e = make_export(name, strtoull(size, NULL, 0), strtoull(generation, NULL, 0));
	while (e->num_labels < LABELS_MAX && (label = strtok_r(rest, ",", &rest)) != NULL)
		p->labels[index][e->num_labels++] = label;
	e->labels = (const char *const *)p->labels[index];
}

static void set(struct publish *p, const char *address, uint64_t generation, size_t num)
{
	const struct dpumap_fleet_dpu self = {.name = p->dpu,
					      .addresses = &address,
					      .num_addresses = 1,
					      .certificate_name = p->dpu,
					      .version = "1.2.3",
					      .card_guid = 0x1234,
					      .generation = generation};
	struct dpumap_error error;
	doca_error_t result;

	result = table->publisher_set(p->publisher, &self, p->exports, num, &error);
	print_fault("set", result, error.text);
}

static void set_many(struct publish *p, size_t num)
{
	size_t i;

	for (i = 0; i < num && i < EXPORTS_MAX; i++) {
		snprintf(p->names[i], sizeof(p->names[i]), "e%zu", i);
		p->exports[i] = make_export(p->names[i], 4096, 1);
	}
	set(p, "tls:127.0.0.1:7470", 1, i);
}

static void command(void *context, char *words[], size_t num)
{
	struct publish *p = context;

	if (strcmp(words[0], "set") == 0 && num >= 3) {
		for (size_t i = 3; i < num; i++)
			parse_export(p, i - 3, words[i]);
		set(p, words[1], strtoull(words[2], NULL, 0), num - 3);
	} else if (strcmp(words[0], "many") == 0 && num == 2) {
		set_many(p, strtoul(words[1], NULL, 0));
	} else if (strcmp(words[0], "state") == 0) {
		print_state(p);
	} else if (strcmp(words[0], "close") == 0 && num == 2) {
		table->publisher_close(p->publisher, (unsigned int)atoi(words[1]));
		print_fault("closed", DOCA_SUCCESS, "");
		exit(0);
	}
}

static int next_ms(void *context)
{
	return table->publisher_next_ms(((struct publish *)context)->publisher);
}

static void process(void *context)
{
	table->publisher_process(((struct publish *)context)->publisher);
}

int probe_publish(const struct probe_options *o)
{
	static struct publish publish;
	struct dpumap_publisher_config config = {.endpoints = o->endpoints,
						 .num_endpoints = o->num_endpoints,
						 .fleet = o->fleet,
						 .ca = o->ca,
						 .cert = o->cert,
						 .key = o->key,
						 .user = o->user,
						 .password_file = o->password_file,
						 .ttl_s = o->ttl_s,
						 .log = logged,
						 .context = &publish};
	struct probe_loop loop = {
		.next_ms = next_ms, .process = process, .command = command, .context = &publish};
	struct dpumap_error error;
	doca_error_t result;

	publish.dpu = o->dpu;
	result = table->publisher_create(&config, &publish.publisher, &error);
	print_fault("created", result, error.text);
	if (result != DOCA_SUCCESS)
		return 1;
	loop.fd = table->publisher_fd(publish.publisher);
	probe_run(&loop);
	table->publisher_close(publish.publisher, 0);
	return 0;
}
