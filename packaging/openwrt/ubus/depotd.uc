'use strict';

/*
 * The ubus object `depotd`, in rpcd (rpcd-mod-ucode): hands each call on to the daemon, through the
 * socket at which whoever connects is the owner. rpcd has judged who calls (access group `depotd`).
 * Invariants:
 *  - rpcd answers others meanwhile: nothing here waits if rpcd can defer an answer;
 *  - every call is answered, with ubus' own status, and within its deadline;
 *  - what a caller gives becomes a value of a query, never a piece of a path or a head.
 */

const socket = require('socket');
const uloop = require('uloop');

const DEADLINE_MS = 25000;
const PIECE_BYTES = 65536;
const MOST_BYTES = 4194304;
/* By the status of HTTP; what is not here is UBUS_STATUS_UNKNOWN_ERROR. */
const STATUS = {
	'200': UBUS_STATUS_OK, '204': UBUS_STATUS_OK, '205': UBUS_STATUS_OK,
	'400': UBUS_STATUS_INVALID_ARGUMENT, '403': UBUS_STATUS_PERMISSION_DENIED,
	'404': UBUS_STATUS_NOT_FOUND, '504': UBUS_STATUS_TIMEOUT,
};

/* Calls under way: what nothing refers to would be collected. */
const pending = {};
let lastCall = 0;

/* Read for each call: its owner may change it. */
function option(name, fallback) {
	try {
		return require('uci').cursor().get('depotd', 'main', name) || fallback;
	} catch (e) {
		return fallback;
	}
}

function escape(value) {
	const text = `${value}`;
	let escaped = '';
	for (let at = 0; at < length(text); at++) {
		const byte = ord(text, at);
		const isPlain = (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) ||
			(byte >= 97 && byte <= 122);
		escaped += isPlain ? chr(byte) : sprintf('%%%02X', byte);
	}
	return escaped;
}

/* Without what is null; an array has a value for each of its items. */
function queryOf(parameters) {
	const fields = [];
	for (let name in parameters) {
		const value = parameters[name];
		const values = type(value) == 'array' ? value : [value];
		for (let at = 0; at < length(values); at++) {
			if (values[at] != null) push(fields, `${name}=${escape(values[at])}`);
		}
	}
	return join('&', fields);
}

/* HTTP/1.0: the answer is not cut into chunks, and ends with the connection. */
function headOf(method, path, parameters) {
	const target = substr(path, 0, 1) == '/' ? path : `${option('base', '/cgi-bin/panel')}/admin/${path}`;
	return `${method} ${target}?${queryOf(parameters)} HTTP/1.0\r\nhost: localhost\r\n` +
		'content-length: 0\r\n\r\n';
}

/* The status of ubus, and what there is to say; a body that is no table is handed on as `data`. */
function readAnswer(text) {
	const end = index(text, '\r\n\r\n');
	if (end < 0 || substr(text, 0, 7) != 'HTTP/1.') return [UBUS_STATUS_CONNECTION_FAILED, null];
	const head = lc(substr(text, 0, end));
	const body = substr(text, end + 4);
	const size = match(head, /\r\ncontent-length: *([0-9]+)/);
	if (size && int(size[1]) > length(body)) return [UBUS_STATUS_CONNECTION_FAILED, null];
	const code = STATUS[substr(text, 9, 3)];
	const status = code == null ? UBUS_STATUS_UNKNOWN_ERROR : code;
	if (index(head, '\r\ncontent-type: application/json') < 0) return [status, { data: body }];
	try {
		const value = json(body);
		return [status, type(value) == 'object' ? value : { data: value }];
	} catch (e) {
		return [UBUS_STATUS_UNKNOWN_ERROR, null];
	}
}

/* For an rpcd that cannot defer. */
function waitFor(daemon) {
	let text = '';
	for (;;) {
		const ready = socket.poll(DEADLINE_MS, [daemon, socket.POLLIN]);
		if (!ready || !ready[0][1]) return [UBUS_STATUS_TIMEOUT, null];
		const data = daemon.recv(PIECE_BYTES);
		if (!data) return readAnswer(text);
		text += data;
		if (length(text) > MOST_BYTES) return [UBUS_STATUS_UNKNOWN_ERROR, null];
	}
}

function follow(daemon, done) {
	const call = { text: '', id: `${++lastCall}` };
	const end = (answer) => {
		if (!pending[call.id]) return;
		delete pending[call.id];
		call.handle.delete();
		call.timer.cancel();
		daemon.close();
		done(answer);
	};
	call.handle = uloop.handle(daemon, () => {
		/* To its end: uloop calls once more, and never again, when the other side has closed. */
		for (;;) {
			const data = daemon.recv(PIECE_BYTES, socket.MSG_DONTWAIT);
			if (data == null) return;
			if (data == '') return end(readAnswer(call.text));
			call.text += data;
			if (length(call.text) > MOST_BYTES) return end([UBUS_STATUS_UNKNOWN_ERROR, null]);
		}
	}, uloop.ULOOP_READ);
	call.timer = uloop.timer(DEADLINE_MS, () => end([UBUS_STATUS_TIMEOUT, null]));
	pending[call.id] = call;
}

/* `done` gets the status and the body of each of the questions, in turn, up to the first refusal. */
function ask(questions, request, done) {
	const answers = [];
	const isDeferred = type(request.defer) == 'function';
	let receive;
	const next = () => {
		const question = questions[length(answers)];
		const daemon = socket.connect(option('owner_socket', '/var/run/depotd/owner.sock'));
		const head = headOf(question[0], question[1], question[2]);
		if (!daemon || daemon.send(head) != length(head)) {
			return receive([UBUS_STATUS_CONNECTION_FAILED, null]);
		}
		if (isDeferred) return follow(daemon, receive);
		const answer = waitFor(daemon);
		daemon.close();
		receive(answer);
	};
	receive = (answer) => {
		push(answers, answer);
		if (answer[0] == UBUS_STATUS_OK && length(answers) < length(questions)) next();
		else done(answers);
	};
	next();
	return isDeferred ? request.defer() : null;
}

function reply(request, answer) {
	/* rpcd may have given up on it. */
	try {
		if (answer[1]) request.reply(answer[1], answer[0]);
		else request.error(answer[0]);
	} catch (e) {
	}
}

function read(path, parametersOf) {
	return (request) => ask(
		[['GET', path, parametersOf ? parametersOf(request.args) : {}]],
		request, (answers) => reply(request, answers[0])
	);
}

/*
 * One task for each package; `task_id` is the last of them, which ends when all have. A task that
 * the queue refuses (`code` 1, and why) is none.
 */
function submit(operation, isAllWithout) {
	return (request) => {
		const questions = map(request.args.packages || [], (name) =>
			['POST', `store/${operation}`, { package: `${name}` }]);
		if (length(questions) == 0) {
			if (!isAllWithout) return request.error(UBUS_STATUS_INVALID_ARGUMENT);
			push(questions, ['POST', `store/${operation}`, isAllWithout]);
		}
		return ask(questions, request, (answers) => {
			const last = answers[length(answers) - 1];
			const isRefused = last[0] == UBUS_STATUS_OK && !last[1].task_id;
			if (last[0] != UBUS_STATUS_OK) return reply(request, last);
			if (isRefused) return reply(request, [UBUS_STATUS_NOT_SUPPORTED, last[1]]);
			reply(request, [UBUS_STATUS_OK, { task_id: last[1].task_id }]);
		});
	};
}

const TASK = { id: '' };
const PACKAGES = { packages: [] };
const idOf = (args) => ({ task_id: args.id || '' });

function task(request) {
	return ask([['GET', 'system/tasks/status', idOf(request.args)]], request, (answers) => {
		const known = answers[0][1];
		const isUnknown = known && !known.running && known.exit_code == 404;
		reply(request, isUnknown ? [UBUS_STATUS_NOT_FOUND, null] : answers[0]);
	});
}

function log(request) {
	const offset = request.args.offset || 0;
	const parameters = { task_id: request.args.id || '', offset: offset };
	return ask([['GET', 'system/tasks/log', parameters]], request, (answers) => {
		const status = answers[0][0];
		const text = answers[0][1] ? answers[0][1].data || '' : '';
		reply(request, status == UBUS_STATUS_OK
			? [status, { log: text, offset: offset + length(text) }] : answers[0]);
	});
}

/* Its 503 tells what fails: that is an answer. */
function health(request) {
	return ask([['GET', '/healthz', {}]], request, (answers) => {
		const body = answers[0][1];
		reply(request, body && body.status ? [UBUS_STATUS_OK, body] : answers[0]);
	});
}

return {
	depotd: {
		list: {
			args: { kind: '', state: '', q: '', page: 1 },
			call: read('store/available', (args) => ({
				kind: args.kind, state: args.state, q: args.q, page: args.page,
			})),
		},
		info: { args: { package: '' }, call: read('store/details', (args) => ({ package: args.package })) },
		plan: {
			args: { operation: '', packages: [] },
			call: read('store/plan', (args) => ({
				operation: args.operation, package: args.packages,
				all: args.operation == 'upgrade' && !length(args.packages || []) ? 'true' : null,
			})),
		},
		install: { args: PACKAGES, call: submit('install', null) },
		remove: { args: PACKAGES, call: submit('remove', null) },
		upgrade: { args: PACKAGES, call: submit('upgrade', { all: 'true' }) },
		update: { call: submit('update', {}) },
		tasks: { call: read('system/tasks/status', null) },
		task: { args: TASK, call: task },
		log: { args: { id: '', offset: 0 }, call: log },
		stop: {
			args: TASK,
			call: (request) => ask(
				[['POST', 'system/tasks/stop', idOf(request.args)]], request, (answers) =>
					reply(request, answers[0][0] == UBUS_STATUS_OK ? [UBUS_STATUS_OK, {}] : answers[0])
			),
		},
		status: { call: read('system/device', null) },
		health: { call: health },
	},
};
