import ArgumentParser

/// `fmdata schema`: keeps the structure of a database's layouts in a repository.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Keeps a snapshot of layouts, of which `generate` makes Swift types.",
        discussion: """
            A snapshot is a folder FileMaker with a JSON file for each layout: fields, portals, value lists, and the Swift \
            names that they were given. It holds no host, no account and no date, and belongs into the repository. A layout in \
            the plural gets a type in the singular, as Orders gets Order. Change a name in "swift", or say "as": "Int" for a \
            number that is one: both stay when the layout is fetched again.
            """,
        subcommands: [SchemaFetchCommand.self, SchemaDiffCommand.self]
    )
}

/// The layouts, and the folder of their snapshot.
struct SchemaOptions: ParsableArguments {
    @OptionGroup(title: "Host and account") var connection: ConnectionOptions
    @OptionGroup(title: "What is said") var talk: TalkOptions
    @OptionGroup var folder: FolderOptions

    @Argument(help: "The layouts (those in the snapshot).")
    var layouts: [String] = []

    @Flag(help: "All layouts that the account sees.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "With --all, leave out a layout, or a folder with all layouts in it. May be given several times.",
            valueName: "name"
        )
    )
    var except: [String] = []

    func validate() throws {
        if all, !layouts.isEmpty { throw ValidationError("--all and names of layouts exclude each other.") }
        if !all, !except.isEmpty { throw ValidationError("--except needs --all.") }
    }

    /// The layouts to read.
    ///
    /// - Parameter known: The names of the layouts in the snapshot.
    func choice(known: [String]) throws -> LayoutChoice {
        if all { return .all(except: except) }
        let names = layouts.isEmpty ? known : layouts
        guard !names.isEmpty else {
            throw ValidationError("The snapshot holds no layout yet. Name some, or give --all.")
        }
        return .named(names)
    }
}
