import Base
import Schemas
import Testing

@Suite("Pages of a large cube")
struct CubePagesTests {
    private static func channel(areas: Int, subjects: Int) -> Channel {
        let id = ObjectID()
        return Channel(
            id: id, name: "C", desc: "",
            areas: (0..<areas).map { number in
                let area = ObjectID()
                return Area(
                    id: area, name: "A\(number)", desc: "\"quoted\"",
                    subjects: (0..<subjects).map { number in
                        let topic = TopicKey(channel: id, area: area, subject: ObjectID())
                        return Subject(
                            id: topic.subject, name: "S\(number)", desc: String(repeating: "é", count: number), topicKey: topic,
                            opt: SubjectOptions(level: .forced, distribution: .alert))
                    })
            })
    }

    private static let cubes: [[Channel]] = [
        [], [channel(areas: 0, subjects: 0)], (0..<9).map { _ in channel(areas: 0, subjects: 0) },
        [channel(areas: 9, subjects: 0)], [channel(areas: 1, subjects: 40)],
        [channel(areas: 0, subjects: 0), channel(areas: 7, subjects: 9), channel(areas: 1, subjects: 0)],
    ]

    @Test("A cube that was cut into pages and joined again is the same cube", arguments: cubes)
    func cutAndJoin(_ cube: [Channel]) throws {
        let sizes: [Int64] = [1, 700, 701, 800, 1_500, 5_000, 1 << 20]
        for size in sizes { #expect(CubePages.join(try CubePages.cut(cube, maxBytes: size)) == cube) }
    }

    @Test("No page exceeds the limit, and few are small", arguments: cubes)
    func sizes(_ cube: [Channel]) throws {
        let pages = try CubePages.cut(cube, maxBytes: 2_000)
        for page in pages { #expect(try CubeSize.of(page) <= 2_000) }
        for page in pages.dropLast() { #expect(try CubeSize.of(page) > 1_000) }
    }

    @Test("The size is that of the JSON, except for commas", arguments: cubes)
    func size(_ cube: [Channel]) throws {
        let json = try Int64(JSONCoder.encode(cube).count)
        let lists = Int64(1 + cube.count + cube.reduce(0) { $0 + $1.areas.count })
        let size = try CubeSize.of(cube)
        #expect((json - 2...json + lists).contains(size))
    }
}
