import Base
import Schemas

/// How long a simulated day is, and how busy.
struct DayPlan: Sendable {
    let seed: UInt64
    let students: Int
    /// Of ten seconds each.
    let steps: Int
    /// The seconds between two things that a student does.
    let pause: ClosedRange<Int64>

    static let step = Milliseconds.seconds(10)
    /// Two hours of a lively campus.
    static let short = DayPlan(seed: 1, students: 100, steps: 720, pause: 120...600)
    static let wholeDay = DayPlan(seed: 2, students: 1_000, steps: 8_640, pause: 300...2_400)
}

/// An invented campus: buildings in rows, far enough from each other that nobody is near two of them.
enum DayCampus {
    /// A place in metres from a corner of the campus, to the east and to the north.
    struct Spot: Hashable, Sendable {
        var east: Double
        var north: Double

        func distance(to other: Spot) -> Double {
            let (width, height) = (other.east - east, other.north - north)
            return (width * width + height * height).squareRoot()
        }

        var degrees: (latitude: Double, longitude: Double) {
            // A degree of latitude, and one of longitude at 51.5° north.
            (51.5 + north / 111_195, east / 69_220)
        }

        var place: Place { Place(latitude: degrees.latitude, longitude: degrees.longitude, name: "Room") }

        func position(accuracy: Double) -> Position {
            Position(latitude: degrees.latitude, longitude: degrees.longitude, accuracy: accuracy)
        }
    }

    static let buildings = (0..<12).map { Spot(east: Double($0 % 4) * 600, north: Double($0 / 4) * 600) }
}

/// A student of a simulated day, with a phone.
struct DayStudent: Sendable {
    let name: AccountName
    let classes: [ObjectID]
    private(set) var spot: DayCampus.Spot
    /// Where the student walks to.
    var target: DayCampus.Spot
    var nextDecision: UnixMilliseconds
    /// While the phone has no network; `nil` with one.
    var offlineUntil: UnixMilliseconds?
    /// An app that is not open reports nothing.
    var isAppOpen = true
    var lastReport: UnixMilliseconds = 0

    /// In ten seconds, in metres.
    private static let pace = 14.0

    init(name: AccountName, classes: [ObjectID], at spot: DayCampus.Spot, nextDecision: UnixMilliseconds) {
        self.name = name
        self.classes = classes
        self.spot = spot
        target = spot
        self.nextDecision = nextDecision
    }

    var hasArrived: Bool { spot == target }

    /// Ten seconds pass.
    mutating func walk() {
        let distance = spot.distance(to: target)
        guard distance > Self.pace else {
            spot = target
            return
        }
        spot.east += (target.east - spot.east) / distance * Self.pace
        spot.north += (target.north - spot.north) / distance * Self.pace
    }
}
