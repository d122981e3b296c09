// What it shows: contacts of two FileMaker servers over HTTP: list, search, get, patch, a stream of changes, and a form
// for visitors who sign in with accounts of their own (`/north/form/1` in a browser).
// How to run it, with two sandboxes as servers:
//     fmdata sandbox --port 3001 & fmdata sandbox --port 3002 &
//     export FM_NORTH_HOST=http://127.0.0.1:3001 FM_SOUTH_HOST=http://127.0.0.1:3002
//     export FM_NORTH_DATABASE=World FM_NORTH_USER=admin FM_NORTH_PASSWORD=secret
//     export FM_SOUTH_DATABASE=World FM_SOUTH_USER=admin FM_SOUTH_PASSWORD=secret
//     swift run service & curl http://127.0.0.1:8080/north/contacts
// What to look at: Site.swift and its extensions, the model layer; FileMakerFailures.swift, errors as answers of HTTP.
// `HTTP_HOST`, `HTTP_PORT` and `LOG_LEVEL` are its own variables; `DataAPI.Server(environment:)` lists the others.
import FMData
import FMDataLifecycle
import FMDataMetrics
import Foundation
import Hummingbird
import Logging
import Metrics
import ServiceLifecycle

@main
struct Service {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let figures = Figures()
        MetricsSystem.bootstrap(figures)
        let logger = makeLogger(environment)

        let sites: [Site]
        do {
            sites = try ["north", "south"].map { try Site($0, environment: environment, logger: logger) }
        } catch let error as DataAPI.EnvironmentError {
            logger.critical("the configuration is not complete: \(error)")
            exit(EX_CONFIG)
        }

        let application = Application(
            router: router(sites, figures),
            configuration: ApplicationConfiguration(
                address: .hostname(
                    environment["HTTP_HOST"] ?? "127.0.0.1",
                    port: environment["HTTP_PORT"].flatMap { Int($0) } ?? 8080
                )
            ),
            onServerRunning: { channel in
                logger.notice("serving", metadata: ["port": "\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger
        )
        // Services end in the reverse order: first no more requests, then no more sessions.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: sites.map { DataAPIService($0.server) } + [application],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        let gauges = sites.map { DataAPIMetrics().watchSessions(of: $0.contacts.layout.database) }
        try await group.run()
        withExtendedLifetime(gauges) {}
    }

    private static func makeLogger(_ environment: [String: String]) -> Logger {
        var logger = Logger(label: "service")
        logger.logLevel = environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) } ?? .info
        return logger
    }

    private static func router(_ sites: [Site], _ figures: Figures) -> Router<BasicRequestContext> {
        let router = Router()
        router.addMiddleware {
            LogRequestsMiddleware(.info)
            MetricsMiddleware()
            RequestIds()
            FileMakerFailures()
        }
        for site in sites {
            site.addContacts(to: router.group("\(site.name)/contacts"))
            site.addForms(to: router.group("\(site.name)/form"))
            site.addChanges(to: router.group("\(site.name)/changes"))
        }
        Checks(sites: sites, figures: figures).add(to: router)
        return router
    }
}
