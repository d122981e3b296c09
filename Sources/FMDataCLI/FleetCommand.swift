import ArgumentParser
import FMData
import FMDataFleet
import Foundation

/// `fmdata fleet`: looks at fleets, processes that share sessions through a store.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Looks at processes that share sessions through Redis or Valkey.",
        subcommands: [FleetStatusCommand.self]
    )
}

/// `fmdata fleet status`: the slots of a store, who holds them, and who waits. It takes no key: it reads no token.
struct FleetStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Lists the slots of each login, who holds them, and who waits.",
        discussion: """
            A login is named by a digest of host, database and account, a member by a name that it makes at its start. The \
            store's account needs the rights ~fm:* +hello +ping +info +client|setname +scan +time +hgetall +zrange +get.
            """
    )

    @Option(
        help: ArgumentHelp(
            """
            The store, as redis://cache.example.com:6379, rediss://… for TLS or unix:///run/valkey.sock (what \
            \(StoreAddress.variable) says). A store with a password has to be in the variable.
            """,
            valueName: "url"
        )
    )
    var store: String?

    @OptionGroup(title: "Form of the data") var output: OutputOptions

    func run() async throws {
        let address = try StoreAddress(option: "--store", store, environment: ProcessInfo.processInfo.environment)
        let status: FleetStatus
        do {
            status = try await FleetStatus.read(from: address)
        } catch let error as StoreError {
            try CommandFailure(CommandError(error, of: address)).end(asJSON: output.errorsAreJSON)
        }
        try RowPrinter(Self.columns, output).printAll(status.pools.map(\.row))
    }

    private static let columns =
        [OutputColumn("login")]
        + ["slots", "held", "waiting", "logins", "strays"].map { OutputColumn($0, isNumber: true) }
        + [OutputColumn("remark")]
}

extension StoreAddress {
    /// Where the URL of the store may stand, with its password.
    static let variable = "FM_FLEET_STORE"

    /// The store that an option names, else the one of the environment.
    init(option: String, _ url: String?, environment: [String: String]) throws {
        let (text, source) =
            try url.map { ($0, option) }
            ?? environment[Self.variable].map { ($0, Self.variable) }
            ?? { throw ValidationError("Which store? Give \(option) or set \(Self.variable).") }()
        // The text may hold a password, and is not repeated.
        guard let address = StoreAddress(url: text) else {
            throw ValidationError("\(source) is no URL of a store, as redis://cache.example.com:6379.")
        }
        if url != nil, address.password != nil {
            throw ValidationError(
                "A password in the arguments can be read by all users of this machine. Set \(Self.variable) instead."
            )
        }
        self = address
    }
}

extension CommandError {
    /// A failure of a store, with its place.
    init(_ error: StoreError, of address: StoreAddress) {
        let isRefused = ["NOAUTH", "WRONGPASS", "NOPERM"].contains(error.word)
        self.init("\(error) \(address)", isRefused ? .refused : error.word == nil ? .unreachable : .failed)
    }
}

extension FleetStatus.Pool {
    fileprivate var row: OutputRow {
        let held = slots.count { $0.holder != nil }
        return OutputRow(
            cells: [name] + [slots.count, held, waiting.count, logins, strays].map(String.init)
                + [remark ?? ""],
            object: [
                "login": .text(name), "slots": .list(slots.map(\.object)), "waiting": .texts(waiting),
                "logins": .int(logins), "strays": .int(strays), "seconds": .int(age.wholeSeconds),
                "grace": grace > .zero ? .int(grace.wholeSeconds) : nil, "limit": limit.map(OutputValue.int),
                "refused": refusal.map { .int($0.code?.rawValue ?? 0) },
            ],
            details: [
                OutputRow.Detail(
                    name: "slots",
                    columns: ["slot", "holder", "held", "session", "state"].map { OutputColumn($0) },
                    rows: slots.map(\.cells)
                )
            ]
                + (waiting.isEmpty
                    ? []
                    : [
                        OutputRow.Detail(name: "waiting", columns: [OutputColumn("member")], rows: waiting.map { [$0] })
                    ])
        )
    }

    /// What keeps members from a slot, if anything does.
    private var remark: String? {
        if grace > .zero { return "the store is new: nothing is granted for \(grace.wholeSeconds) s" }
        if let refusal { return "the credentials were refused\(refusal.code.map { " (\($0.rawValue))" } ?? "")" }
        return limit.map { "the host is full: at most \($0)" }
    }
}

extension FleetStatus.Slot {
    fileprivate var cells: [String] {
        [
            "\(number)", holder ?? "", holder == nil ? "" : "\(held.wholeSeconds) s",
            sessionLife.map { "\($0.wholeSeconds) s" } ?? "", state,
        ]
    }

    fileprivate var object: OutputValue {
        [
            "slot": .int(number), "state": .text(state), "holder": holder.map(OutputValue.text),
            "held": holder == nil ? nil : .int(held.wholeSeconds),
            "session": sessionLife.map { .int($0.wholeSeconds) },
        ]
    }

    private var state: String {
        guard holder != nil else { return isOpening ? "left during a login" : sessionLife == nil ? "empty" : "free" }
        if isOpening { return "logging in" }
        return isRecalled ? "recalled" : "held"
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int { Int(components.seconds) }
}
