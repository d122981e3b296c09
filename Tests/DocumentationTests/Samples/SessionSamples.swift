import FMData
import OpenCombine

// The samples of the article on sessions, beside the one in `ArticleSamples.swift`.

private func asSomebodyElse(contacts: DataAPI.Database, herPassword: String) {
    let hers = contacts.as(Credentials(user: "ada", password: herPassword))
    _ = hers
}

private func globals(shop: DataAPI.Database) {
    let orders = shop.withSession { pinned in
        pinned.setGlobalFields(globalFields: ["Orders::gYear": "2024"])
            .flatMap { _ in pinned.addLayout("Orders").getRecords().returnAs(Order.self) }
            .eraseToAnyPublisher()
    }
    _ = orders
}

private func storing(config: DataAPI.Config) {
    var config = config
    config.sessions.tokenStore = .file(at: "/var/lib/invoices/session")
}

private func status(contacts: DataAPI.Database) {
    let watching = contacts.status.sink { status in
        print("\(status.leased) of \(status.sessions) sessions at work, \(status.waiting) requests waiting")
    }
    _ = watching
}

private func ending(server: DataAPI.Server) async {
    _ = await server.shutdown().awaitSingleResult()
}
