/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The last work before a queue pair ends (last_work.c, server/uverbs/qp.c, ucma/connect.c, engine/sq.c, engine/send.c,
 * engine/rq.c).
 *
 * Two queue pairs with an engine each. The sender's program rings for a message and, if it ENDS, moves its queue pair to
 * ERR. The receiver's program sees the message and disconnects; the sender's program gets that event and looks at its
 * completions. The receiver may not take the message at first, or never. Between two passes an
 * engine may check its doorbells, which counts in its epoch like a pass.
 *
 * Checked: a message that was rung before the command is received, unless the receiver did not take it. A send whose
 * message was received has its completion when the program gets the event. Every run ends.
 *
 * check: command -DENDS=1
 * check: event -DENDS=0
 * mutant: NO_WAIT -DENDS=1 : the command does not wait
 * mutant: OLD_REST -DENDS=1 : a pass counts that began before the program has rung
 * mutant: NO_ANSWER -DENDS=0 : the receiver disconnects before its engine has answered
 * mutant: NO_PASS -DENDS=0 : the sender's program gets the event at once
 * mutant: HALF_PASS -DENDS=0 : the next step of the epoch counts as a pass
 */
#ifndef ENDS
#define ENDS 1
#endif

#define SPARE 2 /* passes that find nothing to do, and checks of the doorbells, before somebody waits */
#define WAKES 4 /* the same while somebody waits: more change nothing */

mtype = { FREE, POSTED, BUSY, DONE };

/* The shared tables: the sender's queue pair and engine, and the inbox of the receiver. */
byte posted, done, at_rest, epoch, other_epoch;
bool error, posted_message;
byte budget = SPARE; /* of the sender's engine */
mtype inbox = FREE;

bool ready;	/* the receiver has a receive */
bool was_unready;
byte received;	/* completions that the receiver's program can see */
bool event, over;

#define HAS_WORK                                                                      \
	((error && (posted_message || posted != done)) || (posted_message && inbox == DONE) || \
	 (!error && posted != done && !posted_message && ready && inbox == FREE))
#define PASSED(now, before) (now - before >= 4 + (before & 1))

active proctype sender_engine()
{
	byte seen;
	bool barred, checked;

end_engine:
	do
	:: HAS_WORK || budget ->
		budget = (HAS_WORK || !budget -> budget : budget - 1);
		epoch++;
		barred = false;
		checked = false;
		seen = posted;
		if
		:: error && inbox == BUSY -> barred = true /* it waits for the receiver's engine */
		:: error && inbox != BUSY ->
			if
			:: inbox == POSTED -> inbox = FREE
			:: else
			fi;
			posted_message = false;
			done = seen
		:: !error && seen != done && !posted_message ->
			if
			:: ready -> atomic { inbox = POSTED; posted_message = true }
			:: !ready -> barred = true; was_unready = true
			fi
		:: !error && posted_message && inbox == DONE ->
			inbox = FREE;
			posted_message = false;
			done++
		:: else
		fi;
		if
		:: seen == done || barred ->
rests:			at_rest = epoch
		:: else
		fi;
		epoch++
	:: budget && !checked -> checked = true; epoch++; epoch++ /* it checks its doorbells */
	:: over -> break
	od
}

active proctype receiver_engine()
{
	do
	:: inbox == POSTED ->
		other_epoch++;
		if
		:: atomic { inbox == POSTED -> inbox = BUSY };
			received++;
			inbox = DONE
		:: inbox != POSTED
		fi;
		other_epoch++
	:: over -> break
	od
}

active proctype receives()
{
	if
	:: ready = true
	:: true
	fi
}

active proctype receiver()
{
	byte before;

	if
	:: received ->
		before = other_epoch;
#ifndef NO_ANSWER
answered:	(inbox != POSTED && inbox != BUSY) || PASSED(other_epoch, before);
#endif
		event = true
	:: over
	fi
}

active proctype sender()
{
	byte before;

	posted = 1;
#if ENDS
snapshot:
	before = epoch;
	budget = WAKES;
#ifdef OLD_REST
	at_rest >= before || done == 1;
#elif !defined(NO_WAIT)
sent:	at_rest > before || done == 1;
#endif
	assert(received || was_unready);
	error = true;
#else
	if
	:: event
	:: timeout -> assert(!received); goto m_end
	fi;
	before = epoch;
	budget = WAKES;
#ifdef HALF_PASS
	epoch != before;
#elif !defined(NO_PASS)
let_pass: PASSED(epoch, before);
#endif
	assert(done == 1);
m_end:
#endif
	over = true
}
