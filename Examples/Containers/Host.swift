import FMData
import FMSandbox
import Foundation

/// The server of the program.
///
/// Without `FM_HOST` it starts the embedded one. With it, `FM_DATABASE`, `FM_USER` and `FM_PASSWORD` name a real file,
/// in which the program makes a record, fills its container and deletes it again. `FM_LAYOUT`, `FM_TEXT_FIELD` and
/// `FM_CONTAINER_FIELD` name the layout and the fields; the defaults are `Contacts`, `Name` and `Photo`.
struct Host {
    let database: DataAPI.Database
    let place: Place
    let sandbox: Sandbox?

    /// The layout and the fields for the picture.
    struct Place {
        var layout = "Contacts"
        var textField = "Name"
        var containerField = "Photo"
    }

    static func fromEnvironment() throws -> Host {
        let environment = ProcessInfo.processInfo.environment
        guard environment["FM_HOST"] != nil else { return try embedded() }
        var place = Place()
        if let layout = environment["FM_LAYOUT"] { place.layout = layout }
        if let field = environment["FM_TEXT_FIELD"] { place.textField = field }
        if let field = environment["FM_CONTAINER_FIELD"] { place.containerField = field }
        return Host(
            database: try DataAPI.Server(environment: environment).addDatabase(environment: environment),
            place: place,
            sandbox: nil
        )
    }

    private static func embedded() throws -> Host {
        let sandbox = try Sandbox.startAndWait()
        return Host(
            database: DataAPI.Server(host: sandbox.url)
                .addDatabase(
                    Solution.Sample.database,
                    credentials: Credentials(user: Solution.Sample.user, password: Solution.Sample.password)
                ),
            place: Place(),
            sandbox: sandbox
        )
    }

    func stop() async {
        guard let sandbox else { return }
        print("Sessions left on the server: \(sandbox.counters.openSessions)")
        await sandbox.stop()
    }
}
