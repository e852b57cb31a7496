/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/cli.h"

#include <argp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nearest.h"

#define NAME_MAX_LEN 64
#define OUR_OPTIONS  4
#define ALL_OPTIONS  (~0u)

/* Keys of options: those of every program, then those of the table that have no letter. */
enum {
	KEY_USAGE = 0x100,
	KEY_FIRST,
};

struct parse {
	const struct cli_program *program;
	struct cli_line *line;
	void *input;
	const char *group;  /* NULL: none yet */
	uint64_t preceding; /* bits: indexes of the options before the command */
};

/* The environment variable by which argp lets users set its format, and whether it is unset. */
#define FORMAT "ARGP_HELP_FMT"
static bool is_format_ours;

static const struct cli_option *option_at(const struct cli_program *program, size_t i)
{
	return (const void *)((const char *)program->options + i * program->option_size);
}

static const struct cli_command *command_at(const struct cli_program *program, size_t i)
{
	return (const void *)((const char *)program->commands + i * program->command_size);
}

/* For a loop over all commands. */
static const struct cli_command *next_command(const struct cli_program *program, size_t *i)
{
	const struct cli_command *command = command_at(program, *i);

	++*i;
	return command->name ? command : NULL;
}

/* --- errors ----------------------------------------------------------------------------------- */

void cli_usage_error(const struct argp_state *state, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	argp_error(state, "%s", text);
	/* argp_error() returns only with flags that cli_parse() does not set. */
	exit(CLI_EXIT_USAGE);
}

/* The usage forms, which are lines of args, in one line. */
_Noreturn static void wrong_arguments(const struct argp_state *state,
				      const struct cli_command *command)
{
	char forms[160] = "", *at = forms;

	for (const char *c = command->args; *c && at < forms + sizeof(forms) - 5; c++) {
		if (*c == '\n') {
			memcpy(at, " or ", 4);
			at += 4;
		} else {
			*at++ = *c;
		}
	}
	*at = '\0';
	cli_usage_error(state, "%s needs %s", command->name, forms);
}

/* --- groups ----------------------------------------------------------------------------------- */

static bool is_in_group(const struct cli_command *command, const char *group)
{
	size_t len = strlen(group);

	return strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}

static bool is_group(const struct cli_program *program, const char *name)
{
	const struct cli_command *c;

	for (size_t i = 0; (c = next_command(program, &i));)
		if (is_in_group(c, name))
			return true;
	return false;
}

static unsigned int options_of_group(const struct cli_program *program, const char *group)
{
	const struct cli_command *c;
	unsigned int takes = 0;

	for (size_t i = 0; (c = next_command(program, &i));)
		if (is_in_group(c, group))
			takes |= c->takes;
	return takes;
}

static const struct cli_command *find(const struct cli_program *program, const char *group,
				      const char *word)
{
	const struct cli_command *c;
	char name[NAME_MAX_LEN];

	snprintf(name, sizeof(name), "%s%s%s", group ? group : "", group ? " " : "", word);
	for (size_t i = 0; (c = next_command(program, &i));)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* --- help ------------------------------------------------------------------------------------- */

static void print_command(FILE *to, const struct cli_command *command)
{
	const char *end = strpbrk(command->doc, ".\v");
	char call[NAME_MAX_LEN];

	snprintf(call, sizeof(call), "%s%s%s", command->name, command->args[0] ? " " : "",
		 strchr(command->args, '\n') ? "..." : command->args);
	fprintf(to, "  %-27s %.*s\n", call, end ? (int)(end - command->doc) : 80, command->doc);
}

static void print_commands(FILE *to, const struct cli_program *program, const char *group)
{
	const struct cli_command *c;

	fputs("Commands:\n", to);
	for (size_t i = 0; (c = next_command(program, &i));)
		if (c->doc && (!group || is_in_group(c, group)))
			print_command(to, c);
}

/* The help of a command, of a group or of the program, as argp wants it; the caller frees it. */
static char *make_doc(const struct parse *p, const struct cli_command *command)
{
	const struct cli_program *program = p->program;
	char *doc = NULL;
	size_t len;
	FILE *to = open_memstream(&doc, &len);

	if (!to)
		return NULL;
	if (command) {
		fprintf(to, "%s", command->doc ? command->doc : "");
		if (command->more || command->takes & program->everywhere)
			fputs("\v", to);
		if (command->takes & program->everywhere)
			fprintf(to, "For more options, see %s --help.", program->name);
		if (command->more)
			command->more(to);
	} else if (p->group) {
		print_commands(to, program, p->group);
		fprintf(to, "\vFor the options of a command, see %s %s COMMAND --help.",
			program->name, p->group);
	} else {
		fprintf(to, "%s\v", program->about);
		print_commands(to, program, NULL);
		fprintf(to,
			"\nFor the options of a command, see %s COMMAND --help or %s help "
			"COMMAND.%s",
			program->name, program->name, program->more);
	}
	return fclose(to) == 0 ? doc : NULL;
}

static void print_help(const struct argp_state *state, unsigned int flags)
{
	/* Omit the note that short options take the arguments of long ones. */
	if (is_format_ours)
		setenv(FORMAT, "no-dup-args-note,rmargin=79", 1);
	argp_state_help(state, stdout, flags);
}

/* --- options ---------------------------------------------------------------------------------- */

static int key_of(const struct cli_program *program, size_t i)
{
	const struct cli_option *option = option_at(program, i);

	return option->letter ? option->letter : KEY_FIRST + (int)i;
}

/* Fills the table of argp with the options in takes. The help shows those in shown. */
static void select_options(const struct cli_program *program, unsigned int takes,
			   unsigned int shown,
			   struct argp_option table[static CLI_OPTIONS_MAX + OUR_OPTIONS + 1])
{
	size_t n = 0;

	for (size_t i = 0; option_at(program, i)->name && i < CLI_OPTIONS_MAX; i++) {
		const struct cli_option *option = option_at(program, i);
		bool hidden = !option->doc || !(option->bit & shown);

		if (option->bit & takes)
			table[n++] = (struct argp_option){.name = option->name,
							  .key = key_of(program, i),
							  .arg = option->arg,
							  .doc = option->doc,
							  .flags = hidden ? OPTION_HIDDEN : 0};
	}
	table[n++] = (struct argp_option){"help", 'h', NULL, 0, "Print this help", -1};
	table[n++] = (struct argp_option){NULL, '?', NULL, OPTION_HIDDEN, NULL, -1};
	table[n++] = (struct argp_option){"usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, -1};
	table[n++] = (struct argp_option){
		"version",	     'V', NULL, takes == ALL_OPTIONS ? 0 : OPTION_HIDDEN,
		"Print the version", -1};
	table[n] = (struct argp_option){0};
}

static error_t parse_option(int key, const char *arg, const struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case 'h':
	case '?':
		print_help(state, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		print_help(state, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		printf("%s %s\n", p->program->name, p->program->version);
		exit(fflush(stdout) == 0 ? 0 : 1);
	default:
		break;
	}
	for (size_t i = 0; option_at(p->program, i)->name; i++) {
		if (key_of(p->program, i) != key)
			continue;
		if (!p->line->command)
			p->preceding |= UINT64_C(1) << i;
		p->program->take(state, p->input, option_at(p->program, i), arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* --- a command -------------------------------------------------------------------------------- */

static void check_command(const struct argp_state *state, const struct parse *p)
{
	const struct cli_command *command = p->line->command;

	if (command && p->line->num_args < command->min_args)
		wrong_arguments(state, command);
	if (p->program->check)
		p->program->check(state, p->input, p->line);
}

static void add_argument(struct argp_state *state, struct cli_line *line, const char *arg)
{
	const struct cli_command *command = line->command;

	if (command->max_args == CLI_REST) {
		line->rest = state->argv + state->next - 1;
		line->num_args = (unsigned int)(state->argc - state->next + 1);
		state->next = state->argc;
		return;
	}
	if (line->num_args == command->max_args)
		cli_usage_error(state,
				line->num_args ? "too many arguments for %s"
					       : "%s takes no arguments",
				command->name);
	line->args[line->num_args++] = arg;
}

static error_t parse_of_command(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		add_argument(state, p->line, arg);
		return 0;
	case ARGP_KEY_END:
		check_command(state, p);
		return 0;
	default:
		return parse_option(key, arg, state);
	}
}

/* An option before the command must be one of the command, or one of all commands. */
static void check_preceding(const struct argp_state *state, const struct parse *p)
{
	const struct cli_command *command = p->line->command;
	unsigned int known = command->takes | p->program->everywhere;

	for (size_t i = 0; option_at(p->program, i)->name; i++)
		if (p->preceding & UINT64_C(1) << i && !(option_at(p->program, i)->bit & known))
			cli_usage_error(state, "%s does not take --%s", command->name,
					option_at(p->program, i)->name);
}

/* argv begins with the last word of the command's name. */
static void parse_command(const struct argp_state *state, int argc, char **argv, struct parse *p)
{
	const struct cli_command *command = p->line->command;
	struct argp_option table[CLI_OPTIONS_MAX + OUR_OPTIONS + 1];
	char name[2 * NAME_MAX_LEN];
	char *doc = make_doc(p, command);
	const struct argp argp = {.options = table,
				  .parser = parse_of_command,
				  .args_doc = command->args,
				  .doc = doc};

	check_preceding(state, p);
	select_options(p->program, command->takes, command->takes & ~p->program->everywhere, table);
	snprintf(name, sizeof(name), "%s %s", p->program->name, command->name);
	argv[0] = name;
	argp_parse(&argp, argc, argv,
		   ARGP_NO_HELP | (command->max_args == CLI_REST ? ARGP_IN_ORDER : 0), NULL, p);
	free(doc);
}

/* --- which command ---------------------------------------------------------------------------- */

/* The names of the group's commands; the caller frees them. */
static char *name_group(const struct cli_program *program, const char *group)
{
	const struct cli_command *c;
	const char *comma = "";
	char *names = NULL;
	size_t len;
	FILE *to = open_memstream(&names, &len);

	if (!to)
		return NULL;
	for (size_t i = 0; (c = next_command(program, &i));) {
		if (!is_in_group(c, group))
			continue;
		fprintf(to, "%s%s", comma, c->name + strlen(group) + 1);
		comma = ", ";
	}
	return fclose(to) == 0 ? names : NULL;
}

_Noreturn static void unknown_command(const struct argp_state *state,
				      const struct cli_program *program, const char *group,
				      const char *word)
{
	struct cli_nearest nearest = {.word = word};
	const struct cli_command *c;
	char first[NAME_MAX_LEN];
	char *names;

	for (size_t i = 0; (c = next_command(program, &i));) {
		const char *space = strchr(c->name, ' ');
		const char *last = space ? space + 1 : c->name;

		if (!c->doc || (group && !is_in_group(c, group)))
			continue;
		cli_nearest_offer(&nearest, last, group ? last : c->name);
		if (group)
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(c->name, " "), c->name);
		cli_nearest_offer(&nearest, first, first);
	}
	if (nearest.found[0])
		cli_usage_error(state, "unknown command \"%s\"; did you mean \"%s\"?", word,
				nearest.found);
	if (!group)
		cli_usage_error(state, "unknown command \"%s\"", word);
	names = name_group(program, group);
	cli_usage_error(state, "unknown command \"%s\"; use one of %s", word, names ? names : "");
}

static void parse_words(int argc, char **argv, struct parse *p);

/* "help WORD..." is "WORD... --help". */
static void rewrite_help(struct argp_state *state, int at)
{
	static char help[] = "--help";

	for (int i = at; i + 1 < state->argc; i++)
		state->argv[i] = state->argv[i + 1];
	state->argv[state->argc - 1] = help;
	state->next = at;
}

static void take_word(struct argp_state *state, struct parse *p, const char *word)
{
	int at = state->next - 1;

	p->line->command = find(p->program, p->group, word);
	if (strcmp(word, "help") == 0 && !p->line->command) {
		rewrite_help(state, at);
		return;
	}
	if (p->line->command) {
		parse_command(state, state->argc - at, state->argv + at, p);
	} else if (!p->group && is_group(p->program, word)) {
		p->group = word;
		parse_words(state->argc - at, state->argv + at, p);
	} else {
		unknown_command(state, p->program, p->group, word);
	}
	state->next = state->argc;
}

static void missing_word(const struct argp_state *state, const struct parse *p)
{
	char *names;

	if (p->group) {
		names = name_group(p->program, p->group);
		cli_usage_error(state, "%s needs one of %s", p->group, names ? names : "");
	}
	if (!p->program->alone)
		cli_usage_error(state, "missing command");
}

static error_t parse_word(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		take_word(state, p, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		missing_word(state, p);
		check_command(state, p);
		return 0;
	default:
		return parse_option(key, arg, state);
	}
}

/* Parses a program, or a group of its commands. All options may precede the command. */
static void parse_words(int argc, char **argv, struct parse *p)
{
	const struct cli_program *program = p->program;
	struct argp_option table[CLI_OPTIONS_MAX + OUR_OPTIONS + 1];
	char name[NAME_MAX_LEN];
	char *doc = make_doc(p, NULL);
	const struct argp argp = {.options = table,
				  .parser = parse_word,
				  .args_doc = program->alone && !p->group
						      ? "[COMMAND [ARGUMENT...]]"
						      : "COMMAND [ARGUMENT...]",
				  .doc = doc};

	select_options(program, ALL_OPTIONS,
		       p->group ? options_of_group(program, p->group) & ~program->everywhere
				: program->everywhere | program->alone,
		       table);
	snprintf(name, sizeof(name), "%s%s%s", program->name, p->group ? " " : "",
		 p->group ? p->group : "");
	argv[0] = name;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, p);
	free(doc);
}

void cli_parse(const struct cli_program *program, int argc, char **argv, void *input,
	       struct cli_line *line)
{
	static char *none[] = {NULL, NULL};
	struct parse p = {.program = program, .line = line, .input = input};

	*line = (struct cli_line){0};
	argp_err_exit_status = CLI_EXIT_USAGE;
	/* An error and its hint are one line each, however long. */
	is_format_ours = !getenv(FORMAT);
	if (is_format_ours)
		setenv(FORMAT, "rmargin=200", 1);
	/* A program may be started without even its own name. */
	parse_words(argc > 0 ? argc : 1, argc > 0 ? argv : none, &p);
	if (is_format_ours)
		unsetenv(FORMAT);
}
