import Base
import FoundationEssentials
import Schemas
import Testing

/// Places and positions: their numbers, distances, and what is printed of them.
@Suite("Places and positions")
struct PlaceTests {
    private static func coordinate(_ latitude: Double, _ longitude: Double) -> Coordinate {
        Coordinate(latitude: latitude, longitude: longitude)
    }

    @Test("The distance of two points in metres")
    func distances() {
        let cases: [(one: [Double], other: [Double], metres: Double)] = [
            ([51.5007, -0.1246], [51.5007, -0.1246], 0),
            ([51.5007, -0.1246], [51.5033, -0.1196], 451),
            ([51.4778, 0], [48.8566, 2.3522], 336_143),
            ([0, 0], [1, 0], 111_195),
            ([60, 0], [60, 1], 55_597),
            // Beyond the date line, at a pole, and on the other side of the earth.
            ([0, 179.999], [0, -179.999], 222),
            ([90, 0], [90, 120], 0),
            ([0, 0], [0, 180], 20_015_114),
            ([90, 0], [-90, 0], 20_015_114),
        ]
        for (one, other, metres) in cases {
            let (start, end) = (Self.coordinate(one[0], one[1]), Self.coordinate(other[0], other[1]))
            #expect(start.distance(to: end).rounded() == metres)
            #expect(end.distance(to: start) == start.distance(to: end))
        }
    }

    @Test("A coordinate is in millionths of a degree, and no number is outside of the earth")
    func millionths() {
        let place = Place(latitude: 51.5007004, longitude: -0.1246006, name: "Library")
        #expect(place.coordinate == Self.coordinate(51.5007, -0.124601))
        #expect(Place(place.coordinate, name: "Library") == Place(latitude: 51.5007, longitude: -0.124601, name: "Library"))
        #expect(Self.coordinate(91, -181) == Self.coordinate(90, -180))
        #expect(Self.coordinate(-.infinity, .infinity) == Self.coordinate(-90, 180))
        let edge = Self.coordinate(-90, 180).degrees
        #expect(edge.latitude == -90 && edge.longitude == 180)
        // JSON has no such number, and nothing ends because of one.
        _ = Self.coordinate(.nan, .nan)
    }

    private static let rules = StudyRules(
        radius: 150, accuracy: 200, grace: 300, maxMinutes: 720, attendants: 100, sponsored: 5, postsPerMinute: 10, invites: 50,
        classes: 30, members: 5_000, sessions: 500)

    @Test("A position is near up to the radius and its accuracy, and says nothing if the accuracy is above the limit")
    func nearness() {
        let cases: [(degrees: Double, accuracy: Double, expected: StudyRules.Nearness)] = [
            (0.001348, 0, .near), (0.001350, 0, .far), (0.001350, 1, .near),
            (0.001798, 50, .near), (0.001799, 50, .far), (0.003147, 200, .near), (0.003148, 200, .far),
            (0, 200, .near), (0, 200.5, .unknown), (1, 1_000_000, .unknown),
        ]
        for (degrees, accuracy, expected) in cases {
            let position = Position(latitude: 51.5 + degrees, longitude: 0, accuracy: accuracy)
            #expect(Self.rules.nearness(of: position, to: Self.coordinate(51.5, 0)) == expected, "\(degrees)")
        }
    }

    @Test("A place and a position have limits, and their errors name the field without its number")
    func limits() throws {
        func wrong(_ json: String) -> SchemaViolation? {
            violation(of: FindNearSessions.self, in: #"{"position":\#(json),"radius":500}"#)
        }
        #expect(wrong(#"{"latitude":90,"longitude":-180,"accuracy":1000000}"#) == nil)
        #expect(wrong(#"{"latitude":-90,"longitude":180,"accuracy":0}"#) == nil)
        for (json, field) in [
            (#"{"latitude":90.717171,"longitude":0,"accuracy":5}"#, "position.latitude"),
            (#"{"latitude":-717171,"longitude":0,"accuracy":5}"#, "position.latitude"),
            (#"{"latitude":0,"longitude":180.717171,"accuracy":5}"#, "position.longitude"),
            (#"{"latitude":71.7171,"longitude":0,"accuracy":-71.7171}"#, "position.accuracy"),
            (#"{"latitude":71.7171,"longitude":0,"accuracy":1000000.5}"#, "position.accuracy"),
            (#"{"latitude":71.7171}"#, "position.longitude"),
            (#"{"latitude":71.7171,"longitude":0}"#, "position.accuracy"),
            (#"{"latitude":71.7171,"longitude":0,"altitude":71.7171}"#, "position.altitude"),
        ] {
            let problem = try #require(wrong(json))
            #expect(problem.field == field)
            #expect(!problem.description.contains("7171"))
        }
        let place = #"{"latitude":0,"longitude":0,"name":"\#(String(repeating: "a", count: 101))"}"#
        let draft = #"{"topics":["Waves"],"minutes":60,"place":\#(place)}"#
        #expect(violation(of: SessionDraft.self, in: draft)?.field == "place.name")
    }

    @Test("A position appears in no text, alone or in what contains it")
    func printing() throws {
        let position = Position(latitude: 71.7171, longitude: 17.1717, accuracy: 7.1717)
        let id = try #require(ObjectID("5a0b0c0d5a0b0c0d5a0b0c0d"))
        let values: [Any] = [
            position, [position], ["p": position], FindNearSessions(around: position, radius: 5),
            ReportPosition(position, at: id, of: id), SessionEdit(position: position),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("1717") && !text.contains("7171"))
            }
        }
        #expect("\(position)" == "…" && String(reflecting: position) == "…")
    }
}
