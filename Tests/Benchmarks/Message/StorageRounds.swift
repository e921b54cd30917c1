/// What the disk and the database can do without the product, in rounds beside those of the messages: a slow minute of the disk is
/// in the figures of both.
struct StorageRounds {
    let scale: Scale
    let database: BenchmarkedDatabase
    let folder: String
    let clients: [Int]

    private var syncs: [Latency] = []
    private var rates: [Int: [Double]] = [:]

    init(scale: Scale, database: BenchmarkedDatabase, folder: String, clients: [Int]) {
        self.scale = scale
        self.database = database
        self.folder = folder
        self.clients = clients
    }

    mutating func run() async throws {
        syncs.append(Latency(try DiskSync.measure(in: folder, seconds: scale.pick(0.5, smoke: 0.05))))
        for clients in clients {
            let result = try await database.withStore { _, place in
                try await database.raw(place, clients: clients, seconds: scale.pick(0.7, smoke: 0.1))
            }
            rates[clients, default: []].append(result.count / result.seconds)
        }
    }

    /// The time of one sync of the disk.
    var sync: Latency { .median(syncs) }

    /// Durable insertions a second by the database's C API, by the number of clients.
    var inserts: [Int: Double] { rates.mapValues { $0.median.rounded() } }
}
