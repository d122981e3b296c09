import FMData
import FMDataFleet
import Foundation
import Programs

/// One process of a fleet. Arguments: the URL of the host, that of the store, the key in hexadecimal digits, the number
/// of slots, the password. It reads lines: a number asks for so many calls at once, and is answered by `done` and the
/// number of those that succeeded; `publish` has the changes of the contacts published; the end of the input shuts it
/// down.
@main struct FleetMember {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let store = StoreAddress(url: arguments[2]), let slots = Int(arguments[4]) else {
            print("five arguments: host, store, key, slots, password")
            exit(2)
        }
        let digits = Array(arguments[3])
        let key = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        let fleet = Fleet(slots: slots, store: store, keys: try FleetKeys([1: key], current: 1))
        var config = DataAPI.Config()
        config.sessions.budget = fleet.budget
        config.pollGate = fleet.pollGate
        // Eight processes on a busy machine take their time, and thousands of calls that wait for two sessions as well.
        config.sessions.waitingDeadline = .seconds(3000)
        config.sessions.fullHostDeadline = .seconds(300)
        let server = DataAPI.Server(host: arguments[1], config: config)
        let countries = server.addDatabase("World", credentials: Credentials(user: "admin", password: arguments[5]))
            .addLayout("Countries")
        say("ready")
        for await line in StandardInput.lines() {
            if line == "publish" {
                let contacts = countries.database.layout(Contact.self)
                Task {
                    let options = DataAPI.LiveOptions(every: .seconds(1) ... .seconds(2), restFactor: 0)
                    do {
                        try await ChangeStream("contacts", store: store).publish(contacts, options: options)
                    } catch {
                        say("published no more: \(error)")
                    }
                }
                continue
            }
            let errors = await withTaskGroup(of: (any Error)?.self) { group in
                for _ in 0..<(Int(line) ?? 0) {
                    group.addTask {
                        do {
                            _ = try await countries.getRecords(recordQuery: RecordQuery(limit: 1))
                                .returnAs(FieldData.self).firstValue()
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                var errors: [any Error] = []
                for await case let error? in group { errors.append(error) }
                return errors
            }
            // The first error, for whoever reads why a test failed.
            say(
                (["done \((Int(line) ?? 0) - errors.count)"] + errors.prefix(1).map { "\($0)" }).joined(separator: ": ")
            )
        }
        _ = try await server.shutdown().firstValue()
        await fleet.shutdown()
    }

    private struct Contact: LayoutRecord, Encodable {
        static let layout = "Contacts"

        var name: String

        enum CodingKeys: String, CodingKey { case name = "Name" }
    }

    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
