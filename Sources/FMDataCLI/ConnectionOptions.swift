import ArgumentParser
import Foundation

/// The database and the account of a command. The password is never an argument, because all users of the machine can
/// read arguments.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A profile that fmdata login has made (what FMDATA_PROFILE says, else the default one).",
            valueName: "name"
        ),
        completion: .profiles
    )
    var profile: String?

    @Option(help: "The server, as fms.example.com or http://127.0.0.1:3000 (what FM_HOST says).")
    var host: String?

    @Option(help: "The database, without .fmp12 (what FM_DATABASE says).")
    var database: String?

    @Option(
        help: """
            The account (what FM_USER says). Its password is what FM_PASSWORD or the profile says; at a terminal it is asked for.
            """
    )
    var user: String?

    @Option(
        help: ArgumentHelp("Take the password from the first line of this file.", valueName: "file"),
        completion: .file()
    )
    var passwordFile: String?

    @Flag(help: "Take the password from the first line of standard input.")
    var passwordStdin = false

    @Option(help: .private)
    var password: String?

    @Option(
        help: ArgumentHelp("Trust the authority in this file (PEM) as well.", valueName: "file"),
        completion: .file()
    )
    var ca: String?

    func validate() throws {
        guard password == nil else {
            throw ValidationError(
                "A password in the arguments can be read by all users of this machine, and stays in the shell's history. "
                    + "Set FM_PASSWORD, give --password-file or --password-stdin, or log in once: fmdata login."
            )
        }
        if passwordStdin, passwordFile != nil {
            throw ValidationError("--password-file and --password-stdin exclude each other.")
        }
    }
}
