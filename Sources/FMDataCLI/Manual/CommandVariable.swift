import FMDataFleet

/// A variable of the environment that the commands read, or a file, for the manual.
struct CommandVariable {
    let names: String
    let meaning: String

    static let all = [
        CommandVariable(names: "FMDATA_PROFILE", meaning: "The profile to use."),
        CommandVariable(names: "FM_HOST, FM_DATABASE, FM_USER", meaning: "Host, database and account."),
        CommandVariable(
            names: "FM_PASSWORD, FM_PASSWORD_FILE",
            meaning: "The password, or a file whose first line it is."
        ),
        CommandVariable(
            names: "NETRC",
            meaning: "A file with passwords by host and account, instead of ~/.netrc."
        ),
        CommandVariable(
            names: StoreAddress.variable,
            meaning: "The store of fleets and of streams, as redis://user:password@cache.example.com:6379."
        ),
        CommandVariable(names: "FM_CA", meaning: "A file (PEM) with an authority to trust as well."),
        CommandVariable(names: "FM_TIMEOUT", meaning: "The seconds that a call may take."),
        CommandVariable(
            names: "FMDATA_PAGER, PAGER",
            meaning:
                "The program that shows long output at a terminal; the first that is set counts, \"\" is none. It is "
                + "less by default, which gets LESS=FRX unless LESS is set."
        ),
        CommandVariable(names: "FMDATA_NO_PROMPT", meaning: "If it is not empty, nothing is asked at a terminal."),
        CommandVariable(
            names: "NO_COLOR, CLICOLOR_FORCE",
            meaning: "If it is not empty, styles are never used, or always."
        ),
        CommandVariable(names: "COLUMNS", meaning: "The width of tables, instead of that of the terminal."),
    ]

    static let files = [
        CommandVariable(names: "~/.config/fmdata/config.json", meaning: "Profiles, without secrets."),
        CommandVariable(
            names: "~/.config/fmdata/credentials.json",
            meaning: "Stored passwords, which only their owner can read."
        ),
        CommandVariable(
            names: "~/.netrc",
            meaning: "Passwords by host and account, if only their owner can read it."
        ),
        CommandVariable(
            names: "$XDG_RUNTIME_DIR/fmdata/sessions.json",
            meaning: "The tokens of kept sessions, which only their owner can read; without that folder it is in "
                + "~/.local/state."
        ),
        CommandVariable(
            names: "$XDG_RUNTIME_DIR/fmdata/running",
            meaning: "The tokens of commands that end their sessions, while they run; the next command ends what a "
                + "killed one has left."
        ),
        CommandVariable(
            names: "~/.cache/fmdata/names.json",
            meaning: "The names of layouts and fields that commands have seen, for completion."
        ),
    ]
}
