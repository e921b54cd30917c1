import FoundationEssentials
import Base
import Schemas

/// The message stores compared with the same writes by their databases' C APIs, and the history at two sizes.
struct StoreBenchmark {
    let scale: Scale
    let database: BenchmarkedDatabase
    let messages: Int

    private var rounds: Int { scale.pick(5, smoke: 1) }
    private var seconds: Double { scale.pick(3, smoke: 0.2) }
    private var shortHistory: Int { scale.pick(10_000, smoke: 150) }

    private struct Figures: Encodable {
        struct Inserts: Encodable {
            let clients: Int
            let store: Double
            let raw: Double
            let ratio: Double
        }

        struct Pages: Encodable {
            let page: String
            let short: Double
            let long: Double
            let ratio: Double
        }

        let benchmark = "stores"
        let database: String
        let inserts: [Inserts]
        let shortHistory: Int
        let longHistory: Int
        let pages: [Pages]
    }

    func run() async throws {
        say(
            "\(database.name), messages a second, each durable (median of \(rounds) runs of \(Int(seconds)) s, in turns)"
        )
        let inserts = try await measureInserts()
        say("\(database.name), a page of \(history.limit) messages, in milliseconds (median of \(history.repetitions))")
        let pages = try await measurePages()
        let figures = Figures(
            database: database.name, inserts: inserts, shortHistory: shortHistory, longHistory: messages, pages: pages)
        say(String(decoding: try JSONCoder.encode(figures), as: UTF8.self))
    }

    private func measureInserts() async throws -> [Figures.Inserts] {
        say(Table.row("clients", "store", "raw C", "ratio"))
        var inserts: [Figures.Inserts] = []
        for clients in [1, 16, 64] {
            var (own, raw): ([Double], [Double]) = ([], [])
            for _ in 0..<rounds {
                own.append(
                    try await database.withStore { store, _ in
                        try await InsertRate.measure(store, clients: clients, seconds: seconds)
                    })
                raw.append(
                    try await database.withStore { _, place in
                        let result = try await database.raw(place, clients: clients, seconds: seconds)
                        return result.count / result.seconds
                    })
            }
            let figures = Figures.Inserts(
                clients: clients, store: own.median.rounded(), raw: raw.median.rounded(),
                ratio: (own.median / raw.median).twoDigits)
            say(Table.row("\(clients)", "\(Int(figures.store))", "\(Int(figures.raw))", "\(figures.ratio)"))
            inserts.append(figures)
        }
        return inserts
    }

    private var history: HistoryTime { HistoryTime(scale: scale) }

    private func measurePages() async throws -> [Figures.Pages] {
        say(Table.row("page", "of \(shortHistory)", "of \(messages)", "ratio"))
        var times: [[Double]] = []
        for count in [shortHistory, messages] {
            times.append(
                try await database.withStore { store, _ in
                    try await HistoryTime.fill(store, with: count)
                    return try await history.measure(store, of: count)
                })
        }
        return zip(HistoryTime.pages, zip(times[0], times[1])).map { name, times in
            let page = Figures.Pages(
                page: name, short: times.0.twoDigits, long: times.1.twoDigits, ratio: (times.1 / times.0).twoDigits)
            say(Table.row(page.page, "\(page.short)", "\(page.long)", "\(page.ratio)"))
            return page
        }
    }
}
