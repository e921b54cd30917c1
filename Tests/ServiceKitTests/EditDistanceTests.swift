import Testing

@testable import ServiceKit

@Suite("Edit distance")
struct EditDistanceTests {
    @Test(
        "Each typing error counts once",
        arguments: [
            ("", "", 0), ("PORT", "PORT", 0), ("", "PORT", 4), ("PORT", "PORTS", 1), ("PORT", "PRT", 1), ("PORT", "PART", 1),
            ("PORT", "PROT", 1), ("PORT", "RPOTS", 3), ("PORT", "LEVEL", 5), ("AB", "BA", 1), ("ABCD", "BADC", 2),
        ])
    func distance(one: String, other: String, expected: Int) {
        #expect(editDistance(one, other) == expected)
        #expect(editDistance(other, one) == expected)
    }
}
