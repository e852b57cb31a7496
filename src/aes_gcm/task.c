/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "aes_gcm/aes_gcm.h"

#include <inttypes.h>

#include "core/pe/pe.h"
#include "log/log.h"

/* The last word of the control segment. */
#define TYPE_GCM (3u << 24)
#define DECRYPT	 (1u << 20)

static struct aes_gcm_task *task_of(const struct doca_task *task)
{
	return (struct aes_gcm_task *)task;
}

static struct doca_aes_gcm *owner(const struct aes_gcm_task *task)
{
	return dpumap_aes_gcm_of(task->task.base.ctx);
}

static bool decrypts(const struct aes_gcm_task *task)
{
	return task->task.kind == AES_GCM_DECRYPT;
}

void dpumap_aes_gcm_set_iv(struct aes_gcm_task *task, const uint8_t *iv, uint32_t iv_len)
{
	task->iv_len = iv ? iv_len : 0;
	if (iv)
		memcpy(task->iv, iv, iv_len < sizeof(task->iv) ? iv_len : sizeof(task->iv));
}

/* --- submitting ------------------------------------------------------------------------------- */

static bool has_tag(const struct aes_gcm_task *task)
{
	const uint32_t crypto = owner(task)->crypto;

	return (task->tag_size == 12 && crypto & DPUMAP_CRYPTO_TAG_96) ||
	       (task->tag_size == 16 && crypto & DPUMAP_CRYPTO_TAG_128);
}

static bool has_key(const struct aes_gcm_task *task)
{
	const struct doca_aes_gcm_key *key = task->key;

	return key && key->aes_gcm == owner(task) &&
	       owner(task)->crypto &
		       dpumap_aes_gcm_need((enum aes_gcm_kind)task->task.kind, key->type);
}

__attribute__((cold, noinline)) static doca_error_t
refuse_parameters(const struct aes_gcm_task *task)
{
	if (!task->key)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "AES-GCM task: the key is NULL");
	if (!has_key(task))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "AES-GCM task: the key %p is of another context, or of a type "
				   "that the device does not support",
				   (const void *)task->key);
	if (task->iv_len != AES_GCM_IV_LEN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "AES-GCM task: an initialization vector of %" PRIu32
				   " bytes, must be %d",
				   task->iv_len, AES_GCM_IV_LEN);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "AES-GCM task: the device does not support a tag of %" PRIu32
			   " bytes; 12 and 16 are possible",
			   task->tag_size);
}

/* The bytes of the source that are neither the text nor copied: a tag. */
static size_t tag_of_source(const struct aes_gcm_task *task)
{
	return decrypts(task) ? task->tag_size : 0;
}

static size_t tag_of_destination(const struct aes_gcm_task *task)
{
	return decrypts(task) ? 0 : task->tag_size;
}

static bool has_good_lengths(const struct aes_gcm_task *task, size_t *out_len)
{
	const size_t len = task->src->data_len, tag = tag_of_source(task);
	const size_t room = dpumap_buf_room(task->dst);

	if (len - 1 >= owner(task)->max_len || len < tag || len - tag < task->aad_size)
		return false;
	*out_len = len - tag + tag_of_destination(task);
	return room && *out_len <= room;
}

__attribute__((cold, noinline)) static doca_error_t refuse_lengths(const struct aes_gcm_task *task)
{
	const size_t len = task->src->data_len, tag = tag_of_source(task);

	if (len - 1 >= owner(task)->max_len)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"AES-GCM task: invalid length of %zu bytes, must be 1 to %" PRIu64, len,
			owner(task)->max_len);
	if (len < tag || len - tag < task->aad_size)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"AES-GCM task: a source of %zu bytes is shorter than its %" PRIu32
			" bytes of additional data%s",
			len, task->aad_size, tag ? " and its tag" : "");
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "AES-GCM task: the result of %zu bytes does not fit into %zu bytes of "
			   "room",
			   len - tag + tag_of_destination(task), dpumap_buf_room(task->dst));
}

/* A result of no bytes needs a piece all the same. */
static inline doca_error_t find_pieces(const struct aes_gcm_task *task, struct engine_piece *from,
				       struct engine_piece *to, size_t *out_len)
{
	const struct engine_ctx *engine = &owner(task)->engine;
	const struct doca_buf *src = task->src, *dst = task->dst;
	doca_error_t result;

	if (doca_unlikely(!src || !dst || src->next || dst->next)) {
		dpumap_engine_log_bufs(engine, src, dst);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (doca_unlikely(!has_key(task) || task->iv_len != AES_GCM_IV_LEN || !has_tag(task)))
		return refuse_parameters(task);
	if (doca_unlikely(!has_good_lengths(task, out_len)))
		return refuse_lengths(task);
	result = dpumap_engine_find_piece(engine, src, (uintptr_t)src->data, src->data_len,
					  DPUMAP_DESC_OP_READ, from);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	return dpumap_engine_find_piece(engine, dst, (uintptr_t)dst->data + dst->data_len,
					*out_len ? *out_len : 1, DPUMAP_DESC_OP_WRITE, to);
}

doca_error_t dpumap_aes_gcm_check(const struct doca_task *task)
{
	struct engine_piece from, to;
	size_t out_len;

	return find_pieces(task_of(task), &from, &to, &out_len);
}

doca_error_t dpumap_aes_gcm_submit(struct doca_task *base, uint32_t flags)
{
	struct aes_gcm_task *task = task_of(base);
	struct engine_ctx *engine = &owner(task)->engine;
	struct engine_piece from, to;
	doca_error_t result = find_pieces(task, &from, &to, &task->out_len);
	struct dpumap_sq_crypto_job job;

	if (doca_unlikely(result != DOCA_SUCCESS))
		return dpumap_task_refuse(base, result);
	job = (struct dpumap_sq_crypto_job){
		.control = TYPE_GCM | (decrypts(task) ? DECRYPT : 0),
		.dek = task->key->dek.number,
		.tag_len = task->tag_size,
		.aad_len = task->aad_size,
		.iv = task->iv,
	};
	task->task.number = dpumap_sq_posted(engine->sq);
	if (doca_unlikely(!dpumap_sq_post_crypto(engine->sq, &job, &to.at, &from.at)))
		return dpumap_task_refuse(base, DOCA_ERROR_AGAIN);
	task->used_key = task->key;
	task->used_key->num_inflight++;
	return dpumap_engine_append(engine, base, flags);
}

/* --- completing ------------------------------------------------------------------------------- */

void dpumap_aes_gcm_log_data_error(const struct doca_task *base, enum dpumap_sq_data_error error)
{
	const struct aes_gcm_task *task = task_of(base);

	if (error == DPUMAP_SQ_NO_ROOM)
		dpumap_log(DPUMAP_LOG_ERROR,
			   "AES-GCM task %p: the result does not fit into %zu bytes",
			   (const void *)task, task->out_len);
	else
		dpumap_log(DPUMAP_LOG_ERROR,
			   "AES-GCM task %p: the tag is wrong: the data, the key, the "
			   "initialization vector or a length is not what was encrypted",
			   (const void *)task);
}

/* False: the program has changed the destination meanwhile. */
static bool take_result(struct aes_gcm_task *task)
{
	if (doca_unlikely(task->out_len > dpumap_buf_room(task->dst))) {
		task->task.base.status =
			dpumap_fail(DOCA_ERROR_IO_FAILED,
				    "AES-GCM task %p: its destination was changed after submission",
				    (void *)task);
		return false;
	}
	task->dst->data_len += task->out_len;
	return true;
}

void dpumap_aes_gcm_complete(struct doca_task *base)
{
	struct aes_gcm_task *task = task_of(base);
	bool good = base->status == DOCA_SUCCESS && take_result(task);

	task->used_key->num_inflight--;
	dpumap_engine_complete(base, good);
}
