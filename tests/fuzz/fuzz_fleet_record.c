/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decoding arbitrary bytes as a record must fail, or the record must be one that dpumap could have
 * written: its values encode again, and decode to the same values. A wrong result aborts.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/record/names.h"
#include "fleet/record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_dpu(const uint8_t *data, size_t size)
{
	struct dpumap_fleet_dpu *dpu, *again;
	struct dpumap_error error;
	char *text;

	if (dpumap_record_decode_dpu("dpu1", data, size, &dpu, &error) != DOCA_SUCCESS)
		return;
	if (!dpu->needs_newer) {
		must(dpumap_record_encode_dpu(dpu, &text, &error) == DOCA_SUCCESS);
		must(dpumap_record_decode_dpu("dpu1", text, strlen(text), &again, &error) ==
		     DOCA_SUCCESS);
		must(again->num_addresses == dpu->num_addresses &&
		     again->generation == dpu->generation && again->card_guid == dpu->card_guid &&
		     strcmp(again->version, dpu->version) == 0);
		free(again);
		free(text);
	}
	free(dpu);
}

static void check_export(const uint8_t *data, size_t size)
{
	struct dpumap_fleet_export *e, *again;
	struct dpumap_error error;
	char *text;

	if (dpumap_record_decode_export("dpu1", "e", data, size, &e, &error) != DOCA_SUCCESS)
		return;
	if (!e->needs_newer) {
		must(dpumap_record_encode_export(e, &text, &error) == DOCA_SUCCESS);
		must(dpumap_record_decode_export("dpu1", "e", text, strlen(text), &again, &error) ==
		     DOCA_SUCCESS);
		must(again->size == e->size && again->access == e->access &&
		     again->num_labels == e->num_labels);
		for (size_t i = 0; i < e->num_labels; i++)
			must(strcmp(again->labels[i], e->labels[i]) == 0);
		free(again);
		free(text);
	}
	free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dpumap_fleet_key key;

	check_dpu(data, size);
	check_export(data, size);
	if (dpumap_fleet_key_parse("f", data, size, &key))
		must(dpumap_fleet_name_valid(key.dpu));
	return 0;
}
