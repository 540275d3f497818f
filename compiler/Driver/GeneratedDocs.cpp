//===- GeneratedDocs.cpp - Man page and completions from the option table -===//
#include "compiler/Driver/GeneratedDocs.h"

#include "compiler/Driver/OptionTable.h"
#include "compiler/Driver/Version.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <vector>

using namespace llvm;
using namespace llvm::opt;

namespace ampc::driver {

static constexpr Command allCommands[] = {
    Command::Compile, Command::Run,     Command::Verify,
    Command::Bench,   Command::Explain, Command::Compare,
    Command::Inspect, Command::Ops,     Command::Devices};

namespace {

struct Entry {
  std::string name; ///< with its dashes, without '='
  std::string metavar;
  std::string help;
  std::string group;
  bool takesValue = false;
  unsigned visibility = 0;
};

} // namespace

/// Every documented option, by group in the table's order.
static std::vector<Entry> collectEntries() {
  const OptTable &table = getOptionTable();
  std::vector<Entry> entries;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    const Option option = table.getOption(id);
    const char *help = table.getOptionHelpText(id);
    bool isOption = option.getKind() != Option::GroupClass &&
                    option.getKind() != Option::InputClass &&
                    option.getKind() != Option::UnknownClass;
    if (!isOption || option.getAlias().isValid() || !help) {
      continue;
    }
    Entry entry;
    StringRef name = option.getPrefixedName();
    entry.takesValue = option.getKind() != Option::FlagClass;
    name.consume_back("=");
    entry.name = name.str();
    if (const char *metavar = table.getOptionMetaVar(id)) {
      entry.metavar = StringRef(metavar).trim().str();
    }
    entry.help = help;
    entry.group = table.getOptionName(table.getOptionGroupID(id)).str();
    for (Command command : allCommands) {
      if (option.hasVisibilityFlag(getVisibility(command))) {
        entry.visibility |= getVisibility(command);
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Text in roff: a leading dot or quote, backslashes and dashes are special.
static std::string roff(StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return text.starts_with(".") || text.starts_with("'") ? "\\&" + escaped
                                                        : escaped;
}

static void printMan(raw_ostream &os) {
  os << ".TH AMPC 1 \"\" \"ampc " << versionText << "\"\n"
     << ".SH NAME\nampc \\- compile ONNX models to native programs in mixed "
        "precision\n.SH SYNOPSIS\n";
  for (Command command : allCommands) {
    for (StringRef line : split(getUsage(command), '\n')) {
      if (!line.contains('|')) {
        os << ".br\n" << roff(line.trim()) << '\n';
      }
    }
  }
  os << ".SH OPTIONS\nNames take \\- and _ alike, and values after = or as the "
        "next argument.\n";
  std::map<std::string, std::vector<Entry>> groups;
  for (Entry &entry : collectEntries()) {
    groups[entry.group].push_back(std::move(entry));
  }
  for (const auto &[group, entries] : groups) {
    os << ".SS " << roff(group) << '\n';
    for (const Entry &entry : entries) {
      bool isLong = StringRef(entry.name).starts_with("--");
      os << ".TP\n.B " << roff(entry.name);
      if (entry.takesValue) {
        os << (isLong ? "=" : " ") << roff(entry.metavar);
      }
      os << '\n' << roff(entry.help) << '\n';
    }
  }
  os << ".SH EXIT STATUS\n"
        "0 ok; 1 a comparison failed; 2 usage; 3 invalid model or data; 4 "
        "unsupported; 5 input or output; 6 limit exceeded; 7 the linker "
        "failed; "
        "8 this machine cannot run the program; 70 a defect of ampc.\n";
}

/// The names of a command's options, `--name=` where a value follows.
static std::string joinNames(ArrayRef<Entry> entries, unsigned visibility) {
  std::string names;
  for (const Entry &entry : entries) {
    if (entry.visibility & visibility) {
      bool isLong = StringRef(entry.name).starts_with("--");
      names += (names.empty() ? "" : " ") + entry.name +
               (entry.takesValue && isLong ? "=" : "");
    }
  }
  return names;
}

static void printBash(raw_ostream &os) {
  std::vector<Entry> entries = collectEntries();
  os << "# bash completion of ampc\n_ampc() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} options\n"
        "  case ${COMP_WORDS[1]} in\n";
  std::string commands;
  for (Command command : allCommands) {
    StringRef name = getCommandName(command);
    bool isDefault = command == Command::Compile;
    os << "  " << (isDefault ? "compile|-*" : name) << ") options=\""
       << joinNames(entries, getVisibility(command)) << "\" ;;\n";
    commands += (commands.empty() ? "" : " ") + name.str();
  }
  os << "  *) options=\"" << joinNames(entries, getVisibility(Command::Compile))
     << "\" ;;\n  esac\n"
     << "  if [[ $cur == -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
        "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
        "  else\n"
        "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "    [[ $COMP_CWORD == 1 ]] && COMPREPLY+=($(compgen -W \""
     << commands << "\" -- \"$cur\"))\n"
     << "  fi\n}\ncomplete -o filenames -F _ampc ampc\n";
}

/// Single-quoted for a shell.
static std::string quoted(StringRef text) {
  std::string result = "'";
  for (char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

static void printZsh(raw_ostream &os) {
  os << "#compdef ampc\n_arguments -s -S";
  for (const Entry &entry : collectEntries()) {
    std::string help;
    for (char c : entry.help) {
      help += c == '[' || c == ']' || c == ':' ? std::string("\\") + c
                                               : std::string(1, c);
    }
    bool isLong = StringRef(entry.name).starts_with("--");
    std::string spec = entry.name + (entry.takesValue && isLong ? "=" : "") +
                       "[" + help + "]" +
                       (entry.takesValue ? ":value:_files" : "");
    os << " \\\n  " << quoted(spec);
  }
  os << " \\\n  '1:command or model:{_alternative \"commands:command:(";
  for (Command command : allCommands) {
    os << getCommandName(command) << ' ';
  }
  os << ")\" \"files:model:_files\"}' \\\n  '*:file:_files'\n";
}

static void printFish(raw_ostream &os) {
  os << "# fish completion of ampc\n";
  for (Command command : allCommands) {
    os << "complete -c ampc -n __fish_use_subcommand -a "
       << getCommandName(command) << '\n';
  }
  for (const Entry &entry : collectEntries()) {
    StringRef name = entry.name;
    bool isLong = name.consume_front("--");
    name.consume_front("-");
    os << "complete -c ampc " << (isLong ? "-l " : "-s ") << name
       << (entry.takesValue ? " -r" : "") << " -d " << quoted(entry.help)
       << '\n';
  }
}

void printGenerated(StringRef kind, raw_ostream &os) {
  if (kind == "man") {
    printMan(os);
  } else if (kind == "bash") {
    printBash(os);
  } else if (kind == "zsh") {
    printZsh(os);
  } else {
    printFish(os);
  }
}

} // namespace ampc::driver
