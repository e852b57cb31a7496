/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/link/wire.h"

#include "desc/cursor.h"

static const uint8_t magic[4] = {'D', 'P', 'C', 'H'};

/* --- encoding --------------------------------------------------------------------------------- */

static void put_limits(struct writer *w, const struct comch_limits *limits)
{
	put_u32(w, limits->max_message);
	put_u32(w, limits->window);
}

static void put_hello(struct writer *w, const struct comch_hello *hello)
{
	const struct dpumap_comch_place *place = &hello->place;
	size_t len = strnlen(place->name, sizeof(place->name));

	put_bytes(w, magic, sizeof(magic));
	put_u16(w, COMCH_VERSION);
	put_u16(w, place->function);
	put_u64(w, place->card);
	put_limits(w, &hello->limits);
	put_bytes(w, (const uint8_t *)place->name, len);
}

static void put_consumer(struct writer *w, const struct comch_consumer_info *consumer)
{
	put_u32(w, consumer->id);
	put_u32(w, consumer->num_tasks);
	put_u32(w, consumer->imm_len);
	put_u32(w, 0);
	put_u64(w, consumer->max_buf_size);
}

static void put_path(struct writer *w, const struct comch_path *path)
{
	put_u32(w, path->producer_id);
	put_u32(w, path->consumer_id);
	put_u32(w, path->code);
	put_bytes(w, path->info, path->info_len);
}

static void put_payload(struct writer *w, const struct comch_frame *frame)
{
	switch (frame->type) {
	case COMCH_HELLO:
		put_hello(w, &frame->hello);
		break;
	case COMCH_WELCOME:
		put_limits(w, &frame->limits);
		break;
	case COMCH_REFUSE:
		put_u32(w, frame->code);
		break;
	case COMCH_MESSAGE:
		if (frame->message.len)
			put_bytes(w, frame->message.bytes, frame->message.len);
		break;
	case COMCH_CONSUMER_NEW:
		put_consumer(w, &frame->consumer);
		break;
	case COMCH_CONSUMER_ACK:
	case COMCH_CONSUMER_GONE:
		put_u32(w, frame->answer.id);
		put_u32(w, frame->answer.code);
		break;
	case COMCH_PATH_OPEN:
	case COMCH_PATH_UP:
	case COMCH_PATH_DOWN:
	case COMCH_PATH_CLOSE:
		put_path(w, &frame->path);
		break;
	case COMCH_CREDIT:
	case COMCH_BYE:
	case COMCH_NUM_TYPES:
		break;
	}
}

size_t dpumap_comch_encode(const struct comch_frame *frame, uint8_t *to)
{
	static const uint8_t zeros[7];
	struct writer header = writer_of(to, COMCH_HEADER_SIZE);
	struct writer w = writer_of(to + COMCH_HEADER_SIZE, COMCH_MAX_MESSAGE);
	uint32_t len;

	put_payload(&w, frame);
	len = COMCH_MAX_MESSAGE - (uint32_t)w.left;
	put_bytes(&w, zeros, (8 - len % 8) % 8);
	put_u32(&header, len);
	put_u8(&header, (uint8_t)frame->type);
	put_u8(&header, 0);
	put_u16(&header, frame->credits);
	return dpumap_comch_frame_size(len);
}

/* --- decoding --------------------------------------------------------------------------------- */

static bool is_id(uint32_t id)
{
	return id && id < COMCH_ID_LIMIT;
}

static const char *get_limits(struct reader *r, struct comch_limits *limits)
{
	limits->max_message = get_u32(r);
	limits->window = get_u32(r);
	if (!limits->max_message || limits->max_message > COMCH_MAX_MESSAGE)
		return "invalid longest message";
	if (!limits->window || limits->window > COMCH_MAX_WINDOW)
		return "invalid number of messages";
	return NULL;
}

/* The name takes what is left of the payload. */
static const char *get_name(struct reader *r, struct dpumap_comch_place *place)
{
	const size_t len = r->left;
	const uint8_t *name = take(r, len);

	if (!name || !len || len >= sizeof(place->name) || memchr(name, 0, len))
		return "invalid name";
	memset(place->name, 0, sizeof(place->name));
	copy(place->name, name, len);
	return NULL;
}

static const char *get_hello(struct reader *r, struct comch_hello *hello)
{
	struct dpumap_comch_place *place = &hello->place;
	uint8_t found[sizeof(magic)] = {0};
	const char *why;

	get_bytes(r, found, sizeof(found));
	if (memcmp(found, magic, sizeof(magic)) != 0)
		return "the peer does not speak this protocol";
	if (get_u16(r) != COMCH_VERSION)
		return "unknown version";
	place->function = get_u16(r);
	place->card = get_u64(r);
	why = get_limits(r, &hello->limits);
	return why ? why : get_name(r, place);
}

static const char *get_consumer(struct reader *r, struct comch_consumer_info *consumer)
{
	consumer->id = get_u32(r);
	consumer->num_tasks = get_u32(r);
	consumer->imm_len = get_u32(r);
	if (get_u32(r))
		return "reserved bits are set";
	consumer->max_buf_size = get_u64(r);
	return is_id(consumer->id) ? NULL : "invalid id of a consumer";
}

static const char *get_answer(struct reader *r, struct comch_answer *answer)
{
	answer->id = get_u32(r);
	answer->code = get_u32(r);
	return is_id(answer->id) ? NULL : "invalid id of a consumer";
}

static const char *get_path(struct reader *r, struct comch_path *path)
{
	path->producer_id = get_u32(r);
	path->consumer_id = get_u32(r);
	path->code = get_u32(r);
	if (!is_id(path->producer_id) || !is_id(path->consumer_id))
		return "invalid id of a producer or consumer";
	if (r->left > sizeof(path->info))
		return "too long";
	path->info_len = (uint32_t)r->left;
	memset(path->info, 0, sizeof(path->info));
	if (path->info_len)
		get_bytes(r, path->info, path->info_len);
	return NULL;
}

static const char *get_payload(struct reader *r, struct comch_frame *frame)
{
	switch (frame->type) {
	case COMCH_HELLO:
		return get_hello(r, &frame->hello);
	case COMCH_WELCOME:
		return get_limits(r, &frame->limits);
	case COMCH_REFUSE:
		frame->code = get_u32(r);
		return NULL;
	case COMCH_MESSAGE:
		frame->message.len = (uint32_t)r->left;
		frame->message.bytes = take(r, r->left);
		return NULL;
	case COMCH_CONSUMER_NEW:
		return get_consumer(r, &frame->consumer);
	case COMCH_CONSUMER_ACK:
	case COMCH_CONSUMER_GONE:
		return get_answer(r, &frame->answer);
	case COMCH_PATH_OPEN:
	case COMCH_PATH_UP:
	case COMCH_PATH_DOWN:
	case COMCH_PATH_CLOSE:
		return get_path(r, &frame->path);
	case COMCH_CREDIT:
	case COMCH_BYE:
		return NULL;
	default:
		return "unknown type";
	}
}

static const char *get_header(struct reader *r, struct comch_frame *frame, uint32_t *len)
{
	*len = get_u32(r);
	frame->type = (enum comch_frame_type)get_u8(r);
	if (get_u8(r))
		return "reserved bits are set";
	frame->credits = get_u16(r);
	if (!frame->type || frame->type >= COMCH_NUM_TYPES)
		return "unknown type";
	return *len > COMCH_MAX_MESSAGE ? "too long" : NULL;
}

static const char *check_padding(const uint8_t *bytes, uint32_t len)
{
	size_t end = dpumap_comch_frame_size(len);

	for (size_t i = COMCH_HEADER_SIZE + len; i < end; i++)
		if (bytes[i])
			return "reserved bits are set";
	return NULL;
}

doca_error_t dpumap_comch_decode(const uint8_t *bytes, size_t len, struct comch_frame *frame,
				 size_t *size, const char **why)
{
	struct reader r;
	uint32_t payload;

	if (len < COMCH_HEADER_SIZE)
		return DOCA_ERROR_AGAIN;
	read_from(&r, bytes, COMCH_HEADER_SIZE);
	*why = get_header(&r, frame, &payload);
	if (*why)
		return DOCA_ERROR_INVALID_VALUE;
	if (len < dpumap_comch_frame_size(payload))
		return DOCA_ERROR_AGAIN;
	*why = check_padding(bytes, payload);
	read_from(&r, bytes + COMCH_HEADER_SIZE, payload);
	if (!*why)
		*why = get_payload(&r, frame);
	if (!*why && (r.overrun || r.left))
		*why = "wrong length";
	*size = dpumap_comch_frame_size(payload);
	return *why ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}
