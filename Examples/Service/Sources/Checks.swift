import FMData
import Hummingbird

/// `GET /live`, `/ready` and `/metrics`, for those who operate the service.
struct Checks {
    let sites: [Site]
    let figures: Figures

    private struct Readiness: ResponseEncodable {
        var isReady: Bool
        var sites: [String: String]
    }

    func add(to router: Router<BasicRequestContext>) {
        // Never asks a host: a service that waits for FileMaker must not be restarted for it.
        router.get("live") { _, _ in "alive" }
        router.get("ready") { request, context in
            let readiness = try await readiness()
            var response = try readiness.response(from: request, context: context)
            if !readiness.isReady { response.status = .serviceUnavailable }
            return response
        }
        router.get("metrics") { _, _ in figures.page }
    }

    /// What is known of the hosts. Each is asked at most once a minute, so that one that was down becomes ready again
    /// without visitors.
    private func readiness() async throws -> Readiness {
        var readiness = Readiness(isReady: true, sites: [:])
        for site in sites {
            let health = try await site.server.timeouts { $0.total = .seconds(2) }.probe().firstValue()
            readiness.sites[site.name] = "\(health)"
            if !health.isReady { readiness.isReady = false }
        }
        return readiness
    }
}
