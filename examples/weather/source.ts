/** Where the weather comes from: sample data, or a service on the network. */

export interface Day {
  date: string
  sky: string
  low: number
  high: number
}

/** Returns the days from today on; undefined for a place that it does not know. */
export type WeatherSource = (city: string, days: number, signal: AbortSignal) => Promise<Day[] | undefined>

const SAMPLES: Record<string, Day[]> = {
  oslo: [
    { date: '2026-07-28', sky: 'rain', low: 11, high: 16 },
    { date: '2026-07-29', sky: 'clear', low: 10, high: 19 },
    { date: '2026-07-30', sky: 'clear', low: 12, high: 22 },
  ],
  lisbon: [
    { date: '2026-07-28', sky: 'clear', low: 19, high: 31 },
    { date: '2026-07-29', sky: 'clear', low: 20, high: 33 },
    { date: '2026-07-30', sky: 'fog', low: 18, high: 27 },
  ],
}

export const sampleCities = Object.keys(SAMPLES)

/** Works without a network. */
export const sampleSource: WeatherSource = async (city, days) => SAMPLES[city.toLowerCase()]?.slice(0, days)

interface Places {
  results?: { latitude: number; longitude: number }[]
}

interface Forecast {
  daily: { time: string[]; weather_code: number[]; temperature_2m_min: number[]; temperature_2m_max: number[] }
}

/** Asks open-meteo.com, which needs no key. Tests give it a `fetch` of their own. */
export function openMeteo(get: (url: string, init: { signal: AbortSignal }) => Promise<Response> = fetch): WeatherSource {
  const read = async (url: string, signal: AbortSignal): Promise<unknown> => {
    const response = await get(url, { signal })
    if (!response.ok) throw new Error(`The weather service answered ${response.status}`)
    return response.json()
  }
  return async (city, days, signal) => {
    const name = new URLSearchParams({ name: city, count: '1' })
    const { results } = (await read(`https://geocoding-api.open-meteo.com/v1/search?${name}`, signal)) as Places
    const place = results?.[0]
    if (!place) return undefined
    const query = new URLSearchParams({
      latitude: String(place.latitude),
      longitude: String(place.longitude),
      daily: 'weather_code,temperature_2m_min,temperature_2m_max',
      forecast_days: String(days),
      timezone: 'auto',
    })
    const { daily } = (await read(`https://api.open-meteo.com/v1/forecast?${query}`, signal)) as Forecast
    return daily.time.map((date, i) => ({
      date,
      sky: skyOf(daily.weather_code[i] ?? 0),
      low: daily.temperature_2m_min[i] ?? 0,
      high: daily.temperature_2m_max[i] ?? 0,
    }))
  }
}

/** Weather codes of the World Meteorological Organization, in a few words. */
function skyOf(code: number): string {
  if (code <= 3) return 'clear'
  if (code <= 48) return 'fog'
  return code <= 67 || (code >= 80 && code <= 82) ? 'rain' : 'snow or storm'
}
