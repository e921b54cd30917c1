#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
package import Base

/// The place of a study session (WGS 84).
///
/// `{"latitude":51.5007,"longitude":-0.1246,"name":"Library, second floor"}`
package struct Place: Codable, Checked, Hashable, Sendable {
    /// In degrees, north positive.
    package let latitude: Double
    /// In degrees, east positive.
    package let longitude: Double
    /// What people call it; absent for none.
    package let name: String?

    package init(latitude: Double, longitude: Double, name: String? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.name = name
    }

    package init(_ coordinate: Coordinate, name: String? = nil) {
        self.init(latitude: coordinate.degrees.latitude, longitude: coordinate.degrees.longitude, name: name)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case latitude, longitude, name
    }

    package var coordinate: Coordinate { Coordinate(latitude: latitude, longitude: longitude) }

    package func check() throws(SchemaViolation) {
        try Coordinate.check(latitude, CodingKeys.latitude, longitude, CodingKeys.longitude)
        try StudyLimits.placeName.check(name, CodingKeys.name)
    }
}

/// Where a device says that it is (WGS 84). It may be forged. It is used for one answer, and never stored, logged or passed on.
///
/// `{"latitude":51.5007,"longitude":-0.1246,"accuracy":12}`
package struct Position: Codable, Checked, Hashable, Sendable {
    package let latitude: Double
    package let longitude: Double
    /// The radius in metres within which the device is by its own word, as browsers report it. Without it a position would count
    /// as exact.
    package let accuracy: Double

    package init(latitude: Double, longitude: Double, accuracy: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case latitude, longitude, accuracy
    }

    package var coordinate: Coordinate { Coordinate(latitude: latitude, longitude: longitude) }

    package func check() throws(SchemaViolation) {
        try Coordinate.check(latitude, CodingKeys.latitude, longitude, CodingKeys.longitude)
        guard StudyLimits.reportedAccuracy.contains(accuracy) else {
            throw SchemaViolation(CodingKeys.accuracy, "expected a number of metres from 0 to 1000000")
        }
    }
}

// A position appears in no text: not in a log line, an error or a test's message about one.
extension Position: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "…" }
    package var debugDescription: String { "…" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A point on the earth in millionths of a degree, which are a tenth of a metre: whole numbers, so that both databases store the
/// same.
package struct Coordinate: Codable, Hashable, Sendable {
    package let latitude: Int64
    package let longitude: Int64

    /// - Parameters:
    ///   - latitude: In degrees. What is outside of the earth becomes its edge.
    ///   - longitude: In degrees.
    package init(latitude: Double, longitude: Double) {
        self.latitude = Self.millionths(latitude, limit: Self.latitudes.upperBound)
        self.longitude = Self.millionths(longitude, limit: Self.longitudes.upperBound)
    }

    private enum CodingKeys: String, CodingKey {
        case latitude, longitude
    }

    package var degrees: (latitude: Double, longitude: Double) {
        (Double(latitude) / Self.perDegree, Double(longitude) / Self.perDegree)
    }

    private static let perDegree = 1_000_000.0
    private static let latitudes = -90.0...90.0
    private static let longitudes = -180.0...180.0

    private static func millionths(_ degrees: Double, limit: Double) -> Int64 {
        Int64(exactly: (max(-limit, min(limit, degrees)) * perDegree).rounded()) ?? 0
    }

    /// The errors do not contain the values: they may be where a person is.
    static func check(
        _ latitude: Double, _ latitudeField: some CodingKey, _ longitude: Double, _ longitudeField: some CodingKey
    ) throws(SchemaViolation) {
        guard latitudes.contains(latitude) else {
            throw SchemaViolation(latitudeField, "expected degrees from -90 to 90")
        }
        guard longitudes.contains(longitude) else {
            throw SchemaViolation(longitudeField, "expected degrees from -180 to 180")
        }
    }

    /// The distance in metres, on a sphere of the earth's mean radius: half a percent off at most.
    package func distance(to other: Coordinate) -> Double {
        let radius = 6_371_008.8
        func radians(_ millionths: Int64) -> Double { Double(millionths) / Self.perDegree * .pi / 180 }
        let (south, north) = (radians(latitude), radians(other.latitude))
        let halfHeight = sin((north - south) / 2)
        let halfWidth = sin((radians(other.longitude) - radians(longitude)) / 2)
        let chord = halfHeight * halfHeight + cos(south) * cos(north) * halfWidth * halfWidth
        return 2 * radius * asin(min(1, chord.squareRoot()))
    }
}
