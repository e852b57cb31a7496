/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/reply.h"

void dpumap_reply_ask_hello(struct dpumap_msg *request, uint32_t version)
{
	dpumap_msg_init(request);
	dpumap_msg_set_text(request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_HELLO));
	dpumap_msg_set_number(request, DPUMAP_MSG_VERSION, version);
}

doca_error_t dpumap_reply_check_hello(const struct dpumap_msg *reply, const char *name,
				      uint32_t *version, struct dpumap_error *error)
{
	uint64_t number = dpumap_msg_has(reply, DPUMAP_MSG_VERSION)
				  ? reply->value[DPUMAP_MSG_VERSION].number
				  : 0;

	if (number < DPUMAP_CHANNEL_OLDEST || number > *version)
		return dpumap_error_set(error, DOCA_ERROR_UNSUPPORTED_VERSION,
					"dpumapd at %s does not support version %u of the channel "
					"protocol: install the same release on both",
					name, *version);
	*version = (uint32_t)number;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_reply_check(uint64_t id, const struct dpumap_msg *reply,
				struct dpumap_error *error)
{
	char text[sizeof(error->text)];
	uint64_t status;

	if (!dpumap_msg_has(reply, DPUMAP_MSG_ID) || !dpumap_msg_has(reply, DPUMAP_MSG_STATUS))
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"dpumapd's reply has no id or no status");
	status = reply->value[DPUMAP_MSG_STATUS].number;
	if (status != DOCA_SUCCESS) {
		dpumap_msg_get_text(reply, DPUMAP_MSG_ERROR, text, sizeof(text));
		return dpumap_error_set(error,
					status <= DOCA_ERROR_SKIPPED ? (doca_error_t)status
								     : DOCA_ERROR_UNKNOWN,
					"%s", text[0] ? text : "dpumapd gave no reason");
	}
	if (reply->value[DPUMAP_MSG_ID].number != id)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"dpumapd's reply has the id of another request");
	return DOCA_SUCCESS;
}
