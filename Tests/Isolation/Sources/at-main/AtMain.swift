import FMData
import FMSandbox

@main
enum AtMain {
    static func main() async throws {
        let sandbox = try await Sandbox.start()
        try await Desk(DataAPI.Server(host: sandbox.url)).useEveryOperator()
        withExtendedLifetime(sandbox) {}
    }
}
