'use strict';

/*
 * depotd behind uhttpd: hands one request on to the daemon's unix socket, and its answer back, both
 * as they come. A process of its own runs it for each request: a CGI program (../panel), or a fork
 * of uhttpd (uhttpd.uc).
 * Written in what ucode and ECMAScript have in common, for tests on machines without ucode.
 * Invariants:
 *  - one piece each way is held: a slow reader is sent to slowly;
 *  - the daemon learns the client's address from here (X-Forwarded-For), never from the client;
 *  - a body that broke off is never finished, in neither direction;
 *  - uhttpd's slots are for everybody: event streams leave one free, and end before uhttpd kills
 *    them;
 *  - uhttpd passes a body on by writes that block, and answers nobody meanwhile: while there is
 *    more of one, nothing here waits for long.
 */

const fs = require('fs');
const http = require('depotd.http');
const answers = require('depotd.answer');

const hasLineBreak = http.hasLineBreak;
const isDigits = http.isDigits;
const chunk = http.chunk;
const refuse = http.refuse;

/* Null if ucode-mod-socket is not installed: every request is then refused, and uhttpd starts. */
let socket;
try {
	socket = require('socket');
} catch (e) {
	socket = null;
}

/* Root's alone. Both come from a wrapper script, never a client. */
const marks = getenv('DEPOTD_MARKS') || '/var/run/depotd';
const start = getenv('DEPOTD_START') || '/etc/init.d/depotd start';
const WAKE_MS = 10000;
const WAKE_PAUSE_MS = 10;

const PIECE_BYTES = 65536;
/* A buffer is cleared before it is filled, and most answers are short. */
const FIRST_PIECE_BYTES = 8192;
/* Up to this a body is read before the daemon is called. */
const SMALL_BODY_BYTES = 16384;
/* Of an answer that begins before the body has ended: fits the pipe to uhttpd, read or not. */
const EARLY_ANSWER_BYTES = 32768;
/* How long the daemon may accept nothing of a body. */
const STALL_MS = 10000;
/* uhttpd closes a gone client's pipe just before it kills; only after this is a body complete. */
const KILL_MS = 50;
/* Hop-by-hop (RFC 9110, section 7.6.1), about the way here, or set below. */
const NOT_SENT = {
	'URL': 1, 'connection': 1, 'keep-alive': 1, 'te': 1, 'trailer': 1, 'transfer-encoding': 1,
	'upgrade': 1, 'expect': 1, 'forwarded': 1, 'via': 1, 'x-real-ip': 1, 'http-auth-user': 1,
	'http-auth-pass': 1, 'auth-user': 1, 'auth-pass': 1, 'content-length': 1,
};
const METHODS = {
	'GET': 1, 'HEAD': 1, 'POST': 1, 'PUT': 1, 'PATCH': 1, 'DELETE': 1, 'OPTIONS': 1,
};
const WITHOUT_BODY = { 'GET': 1, 'HEAD': 1, 'OPTIONS': 1 };

function milliseconds() {
	const time = clock(true);
	return time[0] * 1000 + int(time[1] / 1000000);
}

/* CGI has no other fields than these: HTTP_*, and the type of the content. */
function fieldsOf(env) {
	const fields = {};
	for (let name in env) {
		if (substr(name, 0, 5) != 'HTTP_' || substr(name, 0, 13) == 'HTTP_CONTENT_') continue;
		fields[join('-', split(lc(substr(name, 5)), '_'))] = env[name];
	}
	if (env.CONTENT_TYPE) fields['content-type'] = env.CONTENT_TYPE;
	return fields;
}

/* What `Connection` names is for this hop, too. */
function namedByConnection(value) {
	const named = {};
	const names = value ? split(lc(value), ',') : [];
	for (let at = 0; at < length(names); at++) named[trim(names[at])] = 1;
	return named;
}

/*
 * The request's head, but for how long its body is. A line break in a field would begin another
 * one; any other character that must not be there is refused by the daemon.
 */
function requestHead(request) {
	const env = request.env;
	const target = env.REQUEST_URI || '';
	const isTarget = substr(target, 0, 1) == '/' && index(target, ' ') < 0 && !hasLineBreak(target);
	if (!METHODS[env.REQUEST_METHOD || ''] || !isTarget) {
		refuse(request, '400 Bad Request', 'cannot read the request line');
	}
	const fields = request.fields || fieldsOf(env);
	const named = namedByConnection(fields.connection);
	let head = `${env.REQUEST_METHOD} ${target} HTTP/1.1\r\nconnection: close\r\n`;
	for (let name in fields) {
		if (NOT_SENT[name] || named[name]) continue;
		if (substr(name, 0, 12) == 'x-forwarded-' || substr(name, 0, 5) == 'proxy') continue;
		const field = `${name}: ${fields[name]}`;
		if (hasLineBreak(field)) refuse(request, '400 Bad Request', 'cannot read a header field');
		head += field + '\r\n';
	}
	const proto = env.HTTPS == 'on' ? 'https' : 'http';
	head += `x-forwarded-for: ${env.REMOTE_ADDR || 'unknown'}\r\nx-forwarded-proto: ${proto}\r\n`;
	/* The address that the client called: the daemon accepts it as Host (RFC 7239, section 5.1). */
	const called = env.SERVER_ADDR;
	const by = called && index(called, ':') >= 0 ? `[${called}]` : called;
	if (called) head += `forwarded: by="${by}"\r\n`;
	return head;
}

/*
 * The body: `first` was read already, `left` is to come (-1: in chunks, of unknown length), `field`
 * is for the head. A read waits for all of it.
 */
function openBody(request) {
	const given = request.env.CONTENT_LENGTH;
	if (given) {
		if (!isDigits(given) || length(given) > 15) {
			refuse(request, '400 Bad Request', 'cannot read Content-Length');
		}
		const size = int(given);
		const isSmall = size <= SMALL_BODY_BYTES;
		const first = size > 0 && isSmall ? fs.stdin.read(size) || '' : '';
		if (isSmall && length(first) < size) exit(1);
		return { first: first, left: size - length(first), field: `content-length: ${size}\r\n` };
	}
	if (WITHOUT_BODY[request.env.REQUEST_METHOD]) return { first: '', left: 0, field: '' };
	const first = fs.stdin.read(SMALL_BODY_BYTES) || '';
	if (length(first) == SMALL_BODY_BYTES) {
		return { first: chunk(first), left: -1, field: 'transfer-encoding: chunked\r\n' };
	}
	if (first != '') sleep(KILL_MS);
	return { first: first, left: 0, field: `content-length: ${length(first)}\r\n` };
}

/* What is to be sent next of a body that has not ended. */
function nextPiece(body) {
	const isChunked = body.left < 0;
	const isLong = isChunked || body.left > SMALL_BODY_BYTES;
	const piece = fs.stdin.read(isLong ? SMALL_BODY_BYTES : body.left) || '';
	if (isChunked && piece != '') return chunk(piece);
	if (!isChunked && piece == '') exit(1);
	body.left -= isChunked ? body.left : length(piece);
	if (isChunked) sleep(KILL_MS);
	return isChunked ? '0\r\n\r\n' : piece;
}

/* Both ways at once, until the answer is complete, is broken, or ends (`endsAtMs`; 0: never). */
function exchange(request, daemon, unsent, body, answer) {
	let earlyBytes = 0;
	while (!answer.isComplete) {
		const isWaiting = body.left != 0 && unsent != '';
		const isReading = unsent == '' && body.left != 0;
		let waitMs = isWaiting ? STALL_MS : -1;
		if (answer.endsAtMs > 0) waitMs = answer.endsAtMs - milliseconds();
		if (answer.endsAtMs > 0 && waitMs <= 0) return;
		const line = [daemon, socket.POLLIN | (unsent == '' ? 0 : socket.POLLOUT)];
		let ready = [[daemon, socket.POLLIN]];
		if (isReading) ready = socket.poll(waitMs, line, [0, socket.POLLIN]);
		else if (unsent != '' || waitMs >= 0) ready = socket.poll(waitMs, line);
		const events = ready ? ready[0][1] : 0;
		if (!ready || (isWaiting && events == 0)) return;
		if (events & ~socket.POLLOUT) {
			const data = daemon.recv(answer.hasBegun ? PIECE_BYTES : FIRST_PIECE_BYTES);
			if (body.left != 0) earlyBytes += length(data);
			if (!data || earlyBytes > EARLY_ANSWER_BYTES) return;
			if (!answers.receive(request, answer, data)) return;
		}
		if (events & socket.POLLOUT) {
			const sentBytes = daemon.send(unsent, socket.MSG_DONTWAIT);
			unsent = sentBytes ? substr(unsent, sentBytes) : '';
			/* The daemon accepts no more of the body; it may have answered. */
			if (!sentBytes) body.left = 0;
		}
		if (isReading && ready[1][1]) unsent = nextPiece(body);
	}
}

/*
 * A daemon that ended of idleness (main.idle_exit_min) left a mark. Who renames it starts the next
 * one, which takes it away when it listens; the others wait. One that does not come is not waited
 * for again.
 */
function wake() {
	if (fs.rename(`${marks}/asleep`, `${marks}/waking`)) system(`${start} </dev/null >/dev/null 2>&1`);
	for (let at = 0; fs.access(`${marks}/waking`); at++) {
		if (at * WAKE_PAUSE_MS > WAKE_MS) return fs.unlink(`${marks}/waking`);
		sleep(WAKE_PAUSE_MS);
	}
}

/*
 * Answers one request, and ends the process if it has to be refused.
 * `env`: CGI's variables; `fields`: all header fields, null if only `env` has some; `put`: writes
 * to uhttpd; `socket`: where the daemon listens.
 */
function relay(request) {
	if (!socket) {
		const message = 'cannot reach depotd: the package ucode-mod-socket is not installed';
		refuse(request, '503 Service Unavailable', message);
	}
	wake();
	request.startedAtMs = milliseconds();
	const head = requestHead(request);
	const body = openBody(request);
	const daemon = socket.connect(request.socket);
	if (!daemon) {
		const message = 'cannot reach depotd: it is not running, or does not listen on unix:';
		refuse(request, '503 Service Unavailable', message + request.socket);
	}
	const answer = answers.create();
	exchange(request, daemon, head + body.field + '\r\n' + body.first, body, answer);
	answers.end(request, answer);
}

return relay;
