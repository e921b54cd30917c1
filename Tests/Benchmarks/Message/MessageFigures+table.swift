extension MessageFigures {
    /// Prints the tables.
    func show() {
        sink?.show("FCM a sink, \(database)", rate: "relayed/s")
        phone.show("FCM emulator with a phone, \(database)", rate: "on phone/s")
        phone.showCounts()
        say("the parts alone, \(database), a second")
        say(Table.row("in flight", "route", "insert", "raw insert", "relay"))
        for part in parts {
            say(
                Table.row(
                    "\(part.inFlight)", "\(Int(part.route))", "\(Int(part.insert))", part.rawInsert.map { "\(Int($0))" } ?? "",
                    part.relay.map { "\(Int($0))" } ?? ""))
        }
        if let oneClientShare { say("one client: \(oneClientShare) of the raw durable insert of one client (goal 0.6)") }
        showHalfRate()
    }

    private func showHalfRate() {
        say("at half of the best rate, open loop, in milliseconds; one sync of the disk: p50 \(sync.p50), p99 \(sync.p99)")
        say(Table.row("", "rate", "201 p50", "201 p99", "phone p50", "phone p99"))
        for (name, run) in [("sink", sink), ("emulator", phone)] {
            guard let load = run?.halfRate else { continue }
            say(Table.row(name, ["\(Int(load.requestedRate ?? 0))"] + load.latencies, first: 14))
        }
        say("goals: 201 p99 \((sync.p99 + 5).twoDigits) (that of the sync and 5), from the 201 to the phone p99 15")
    }
}

extension MessageFigures.Run {
    /// Prints the tables of one stack.
    ///
    /// - Parameter rate: The name of the loads' rate.
    fileprivate func show(_ name: String, rate: String) {
        say("\(name): messages a second, and milliseconds")
        say(Table.row("in flight", [rate, "accepted/s", "201 p50", "201 p99", "phone p50", "phone p99"], first: 14))
        for load in loads {
            say(Table.row("\(load.inFlight)", ["\(Int(load.rate))", "\(Int(load.acceptedRate))"] + load.latencies, first: 14))
        }
        say("\(name): processor time in µs a message")
        let columns = loads + [halfRate]
        say(Table.row("process", loads.map { "\($0.inFlight)" } + ["half rate"], first: 18))
        for (index, process) in halfRate.processes.enumerated() {
            say(Table.row(process.name, columns.map { "\(Int($0.processes[index].processorTime))" }, first: 18))
        }
        let messages = columns.reduce(0) { $0 + $1.counts.accepted }
        say("\(name): resident MiB after the warm-up, and \(messages) messages later")
        say("goals for the message log and the relay: under 64, no growth")
        say(Table.row("process", ["begin", "end", "growth"], first: 18))
        for one in memory {
            say(Table.row(one.name, ["\(one.begin)", "\(one.end)", "\((one.end - one.begin).twoDigits)"], first: 18))
        }
    }

    fileprivate func showCounts() {
        say("messages of all rounds")
        say(Table.row("in flight", "accepted", "relayed", "delivered", "lost"))
        for load in loads + [halfRate] {
            let counts = load.counts
            say(
                Table.row(
                    load.requestedRate == nil ? "\(load.inFlight)" : "half rate", "\(counts.accepted)", "\(counts.relayed)",
                    "\(counts.delivered)", "\(counts.lost)"))
        }
    }
}

extension MessageFigures.Load {
    fileprivate var latencies: [String] {
        ["\(answer.p50)", "\(answer.p99)"] + (phone.map { ["\($0.p50)", "\($0.p99)"] } ?? [])
    }
}
