extension MessageFigures.Database {
    /// Prints the tables.
    func show() {
        say("\(database): messages a second, milliseconds, and the parts alone a second")
        say(
            Table.row(
                "in flight", "rate", "accepted", "201 p50", "201 p99", "phone p50", "phone p99", "route", "insert", "relay",
                width: 10))
        for load in loads {
            say(
                Table.row(
                    "\(load.inFlight)", "\(Int(load.rate))", "\(Int(load.acceptedRate))", "\(load.answer.p50)",
                    "\(load.answer.p99)", "\(load.phone.p50)", "\(load.phone.p99)", "\(Int(load.route))", "\(Int(load.insert))",
                    load.relay.map { "\(Int($0))" } ?? "", width: 10))
        }
        say("\(database): messages in all rounds")
        say(Table.row("in flight", "accepted", "relayed", "delivered", "lost"))
        for load in loads {
            say(Table.row("\(load.inFlight)", "\(load.accepted)", "\(load.relayed)", "\(load.delivered)", "\(load.lost)"))
        }
        say("\(database): processor time in µs a message, and resident MiB at the end, in the last round")
        say(
            Table.row(
                "process", loads.map { "\($0.inFlight)" } + ["\(withoutPhone.inFlight), no phone"], first: 18))
        let columns = loads.map(\.processes) + [withoutPhone.processes]
        for (index, process) in columns[0].enumerated() {
            say(Table.row(process.name, columns.map { Self.text($0[index]) }, first: 18))
        }
        say("\(database): \(Int(withoutPhone.rate)) messages a second with \(withoutPhone.inFlight) in flight and no phone")
    }

    private static func text(_ process: MessageFigures.Process) -> String {
        "\(Int(process.processorTime))" + (process.resident.map { ", \(Int($0)) MiB" } ?? "")
    }
}
